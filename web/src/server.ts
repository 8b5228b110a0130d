// Asks the server that the page came from, with the token in the address.
import type { ComparisonAnswer, Content, RunEntry, RunProgress, Timeline } from "./data";

const token = new URLSearchParams(location.search).get("token") ?? "";

export interface Listing { folder: string; is_single: boolean; runs: RunEntry[] }
export interface Opened { version: string; is_running: boolean; content: Content }

async function ask<T>(path: string, query: Record<string, string | number> = {}): Promise<T> {
  const search = new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)])).toString();
  const answer = await fetch(`/api/${path}${search ? "?" + search : ""}`, { headers: { "x-stepscope-token": token } });
  if (answer.status === 403) throw new Error("The server was restarted: open the address that 'stepscope view' prints.");
  const reply = (await answer.json()) as T & { trouble?: string };
  if (!answer.ok) throw new Error(reply.trouble ?? `The server answered ${answer.status}.`);
  return reply;
}

export const listing = () => ask<Listing>("runs");
export const opened = (run: string) => ask<Opened>("run", { run });
export const compared = (before: string, run: string) => ask<ComparisonAnswer>("compare", { before, run });
export const version = (run: string) => ask<{ version: string }>("version", { run });
export const progress = (run: string) => ask<RunProgress>("progress", { run });

export async function tile(run: string, known: string, from: number, to: number, width: number): Promise<Timeline | null> {
  const reply = await ask<{ version: string; tile: Timeline }>("tile", { run, from, to, width });
  return reply.version === known ? reply.tile : null;
}
