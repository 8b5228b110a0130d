// The app: reads its data and draws the chosen page.
import { render } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { embedded, type Content } from "./data";
import { count } from "./format";
import { Finder } from "./parts/finder";
import { Link, Name } from "./parts/links";
import { Empty, Page } from "./parts/panel";
import { Compare, type Others } from "./pages/compare";
import { Device } from "./pages/device";
import { Files } from "./pages/files";
import { Functions } from "./pages/functions";
import { Ladder } from "./pages/ladder";
import { Input } from "./pages/input";
import { Memory } from "./pages/memory";
import { Operators } from "./pages/operators";
import { Overview } from "./pages/overview";
import { Preparing } from "./pages/preparing";
import { Ranks } from "./pages/ranks";
import { RunList } from "./pages/runs";
import { Source } from "./pages/source";
import { Steps } from "./pages/steps";
import { Timeline, type Tiles } from "./pages/timeline";
import { go, useRoute } from "./route";
import { listing, opened, tile, version, type Listing, type Opened } from "./server";
import { setTheme, useTheme, type Theme } from "./theme";

const PAGES = [
  ["overview", "Overview"], ["steps", "Steps"], ["source", "Source"], ["functions", "Functions"],
  ["operators", "Operators"], ["device", "Device"], ["timeline", "Timeline"], ["memory", "Memory"], ["input", "Input"],
  ["ranks", "Ranks"], ["files", "Files"], ["compare", "Compare"], ["try", "Try"],
] as const;

function figure(page: string, content: Content): string {
  switch (page) {
    case "overview": return content.findings?.findings.length ? count(content.findings.findings.length) : "";
    case "steps": return content.summary.steps.steps ? count(content.summary.steps.steps) : "–";
    case "source": return count(new Set(content.lines.map((each) => each.file)).size);
    case "functions": return count(content.functions?.functions.length ?? 0);
    case "operators": return content.ops?.ops.length ? count(content.ops.ops.length) : "–";
    case "device": return content.device?.ranks.length ? count(content.device.ranks.length) : "–";
    case "input": return content.input?.loader ? "" : "–";
    case "ranks": return content.ranks?.ranks.length ? count(content.ranks.ranks.length) : count(content.summary.processes);
    case "try": return content.trial ? count(content.trial.rungs.length) : "–";
    case "files": return content.files?.files.length ? count(content.files.files.length) : "–";
    default: return "";
  }
}

function Shown({ page, content, tiles, others }: { page: string; content: Content; tiles: Tiles | null; others: Others | null }) {
  switch (page) {
    case "steps": return <Steps content={content} />;
    case "source": return <Source content={content} />;
    case "functions": return <Functions content={content} />;
    case "operators": return <Operators content={content} />;
    case "device": return <Device content={content} />;
    case "timeline": return <Timeline content={content} tiles={tiles} />;
    case "memory": return <Memory content={content} />;
    case "input": return <Input content={content} />;
    case "ranks": return <Ranks content={content} />;
    case "files": return <Files content={content} />;
    case "try": return <Ladder content={content} />;
    case "compare": return <Compare content={content} others={others} />;
    case "overview": return <Overview content={content} />;
    default: return <Page title="Not found"><Empty>There is no such page. <Link page="overview">To the overview</Link></Empty></Page>;
  }
}

function ThemeSwitch() {
  const [theme] = useTheme();
  const next: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };
  const sign: Record<Theme, string> = { system: "◐", light: "○", dark: "●" };
  return <button type="button" class="theme" title="Light, dark, or like the system" onClick={() => setTheme(next[theme])}>{sign[theme]} {theme}</button>;
}

interface ReportProps { content: Content; tiles: Tiles | null; live?: boolean; others?: Others | null }

function Report({ content, tiles, live, others = null }: ReportProps) {
  const route = useRoute();
  const [finds, setFinds] = useState(false);
  useEffect(() => { document.title = `${content.facts.name} – stepscope`; }, [content]);
  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
      if ((event.key === "/" && !typing) || (event.key === "k" && (event.ctrlKey || event.metaKey))) { event.preventDefault(); setFinds(true); }
      const number = "1234567890".indexOf(event.key);
      if (event.altKey && number >= 0 && PAGES[number]) { event.preventDefault(); go(PAGES[number][0]); }
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, []);
  return (
    <div class="shell">
      <aside class="side">
        <div class="brand">stepscope</div>
        {others && <button type="button" class="back" onClick={() => go("runs")}>◂ all runs</button>}
        <div class="run-name"><Name text={content.facts.name} />{live && <span class="tag live">recording</span>}</div>
        <nav aria-label="Pages">
          {PAGES.map(([page, title]) => (
            <Link key={page} page={page} class={route.page === page ? "here" : ""}>
              <span>{title}</span><span class="faint number">{figure(page, content)}</span>
            </Link>
          ))}
        </nav>
        <div class="side-foot">
          <button type="button" onClick={() => setFinds(true)}>Find <kbd>/</kbd></button>
          <ThemeSwitch />
        </div>
      </aside>
      <main id="main" tabIndex={-1}>
        <Shown key={route.page} page={route.page} content={content} tiles={tiles} others={others} />
        <footer class="foot faint">made {content.made.replace("T", " ")} by stepscope {content.facts.stepscope}</footer>
      </main>
      {finds && <Finder content={content} pages={PAGES} onClose={() => setFinds(false)} />}
    </div>
  );
}

const EVERY_MS = 2000;

function Viewer() {
  const [list, setList] = useState<Listing | null>(null);
  const [run, setRun] = useState<string | null>(null);
  const [shown, setShown] = useState<Opened | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const route = useRoute();
  const fail = (error: unknown) => setTrouble(error instanceof Error ? error.message : String(error));

  useEffect(() => {
    listing().then((found) => {
      setList(found);
      setRun(found.is_single ? found.runs[0]?.id ?? null : chosenRun());
    }, fail);
  }, []);
  useEffect(() => { if (route.page === "runs") { setRun(null); setShown(null); void listing().then(setList, fail); } }, [route.page]);
  useEffect(() => {
    if (!run) return;
    keepRun(run);
    let gone = false, known = "";
    const load = async () => {
      try {
        const now = known ? (await version(run)).version : "";
        if (!gone && (!known || now !== known)) {
          const found = await opened(run);
          if (gone) return;
          known = found.version;
          setShown(found);
          setTrouble(null);
        }
      } catch (error) { if (!gone) fail(error); }
      if (!gone) timer = setTimeout(load, EVERY_MS);
    };
    let timer = setTimeout(load, 0);
    return () => { gone = true; clearTimeout(timer); };
  }, [run]);
  const key = shown?.version;
  const tiles = useCallback<Tiles>((from, to, width) => tile(run!, key!, from, to, width).catch(() => null), [run, key]);

  const open = (id: string) => { setShown(null); setRun(id); go("overview"); };
  if (trouble && !shown) return <main class="alone"><Page title="stepscope"><Empty>{trouble}</Empty></Page></main>;
  if (!list) return <main class="alone"><Empty>Asking the server…</Empty></main>;
  if (!run) return <main class="alone"><RunList listing={list} onOpen={open} /></main>;
  if (!shown) return <main class="alone"><Preparing run={run} /></main>;
  return <Report content={shown.content} tiles={tiles} live={shown.is_running} others={list.is_single ? null : { run, runs: list.runs }} />;
}

// The open run is remembered across reloads, but not after the window closes.
function chosenRun(): string | null {
  try { return location.hash.startsWith("#/runs") ? null : sessionStorage.getItem("stepscope-run"); } catch { return null; }
}
function keepRun(run: string): void {
  try { sessionStorage.setItem("stepscope-run", run); } catch { /* then it is not remembered */ }
}

const given = embedded();
const app = document.getElementById("app")!;
app.textContent = "";
render(given.mode === "file" ? <Report content={given.content} tiles={null} /> : <Viewer />, app);
document.documentElement.dataset.ready = "yes";
