// The run, the page and what is chosen on it, in the address after the #: back works, and links can be sent.
import { useCallback, useEffect, useState } from "preact/hooks";

export type Query = Record<string, string | number | null | undefined>;
export interface Route { page: string; query: Record<string, string> }

const RUN = "run"; // the viewer's run: it stays while pages change
const LIST = "runs"; // the one page that is not about a run

const listeners = new Set<() => void>();
let current = parsed(location.hash);

function parsed(hash: string): Route {
  const [path, search] = hash.replace(/^#\/?/, "").split("?");
  return { page: path || "overview", query: Object.fromEntries(new URLSearchParams(search ?? "")) };
}

export function address(page: string, query: Query = {}): string {
  const whole: Query = page === LIST ? query : { [RUN]: current.query[RUN], ...query };
  const kept = Object.entries(whole).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const search = new URLSearchParams(kept.map(([key, value]) => [key, String(value)])).toString();
  return `#/${page}${search ? "?" + search : ""}`;
}

function enter(next: Route): void {
  if (current.page !== next.page) document.getElementById("main")?.scrollTo(0, 0);
  current = next;
  listeners.forEach((listener) => listener());
}

// Choosing what is chosen already adds nothing that back would have to go through.
export function go(page: string, query: Query = {}, replace = false): void {
  const to = address(page, query), isHere = to === address(current.page, current.query);
  enter(parsed(to));
  try {
    // In a notebook's frame there may be no history to write to: the page works without it.
    if (replace || isHere) history.replaceState(null, "", to); else history.pushState(null, "", to);
  } catch { /* stay */ }
}

// Something else is chosen on the same page. What one types or zooms replaces the address: back leads to the choice before.
export function change(query: Query, replace = false): void {
  go(current.page, { ...current.query, ...query }, replace);
}

addEventListener("popstate", () => enter(parsed(location.hash)));
addEventListener("hashchange", () => enter(parsed(location.hash)));

export function useRoute(): Route {
  const [route, set] = useState(current);
  useEffect(() => {
    const listener = () => set(current);
    listeners.add(listener);
    listener();
    return () => { listeners.delete(listener); };
  }, []);
  return route;
}

// A state that is in the address; what is as usual is left out of it.
export function useAsked<T extends string>(key: string, usual: T): [T, (value: T) => void] {
  const { query } = useRoute();
  const set = useCallback((value: T) => change({ [key]: value === usual ? null : value }, true), [key, usual]);
  return [(query[key] as T | undefined) ?? usual, set];
}
