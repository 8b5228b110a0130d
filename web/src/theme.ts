// Light, dark, or like the system.
import { useEffect, useState } from "preact/hooks";

export type Theme = "system" | "light" | "dark";
const KEY = "stepscope-theme";

function kept(): Theme {
  try {
    const found = localStorage.getItem(KEY);
    return found === "light" || found === "dark" ? found : "system";
  } catch { return "system"; }
}

function apply(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

let theme = kept();
apply(theme);
const listeners = new Set<() => void>();
const system = matchMedia("(prefers-color-scheme: dark)");
const notify = () => listeners.forEach((listener) => listener());
system.addEventListener("change", notify);

export function setTheme(next: Theme): void {
  theme = next;
  apply(next);
  try { localStorage.setItem(KEY, next); } catch { /* then it is not remembered */ }
  notify();
}

export const isDark = () => theme === "dark" || (theme === "system" && system.matches);

// The theme, and a number that changes when canvases have to be redrawn.
export function useTheme(): [Theme, number] {
  const [, set] = useState(0);
  useEffect(() => {
    const listener = () => set((value) => value + 1);
    listeners.add(listener);
    return () => { listeners.delete(listener); };
  }, []);
  return [theme, isDark() ? 1 : 0];
}
