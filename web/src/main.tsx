// The app: reads its data and draws the chosen page.
import { render } from "preact";
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { embedded, type Content } from "./data";
import { count } from "./format";
import { Finder } from "./parts/finder";
import { HasSource, Link, Name } from "./parts/links";
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

interface Entry { page: string; title: string; figure?: string; isThere: boolean }

// The menu. A page with nothing to show is not in it, but keeps its address.
function pagesOf(content: Content, others: Others | null): Entry[] {
  const { summary } = content;
  const files = new Set(content.lines.map((each) => each.file)).size;
  const ranks = content.ranks?.ranks.length ?? 0;
  const operators = content.ops?.ops.length ?? 0, kernels = content.kernels?.kernels.length ?? 0;
  const opened = content.files?.files.length ?? 0;
  const named = (content.regions?.regions.length ?? 0) + (content.actions?.actions.length ?? 0);
  const all: Entry[] = [
    { page: "overview", title: "Overview", figure: content.findings?.findings.length ? count(content.findings.findings.length) : "", isThere: true },
    { page: "steps", title: "Steps", figure: count(summary.steps.steps), isThere: content.steps !== null },
    { page: "source", title: "Source", figure: count(files), isThere: files > 0 },
    { page: "functions", title: "Functions", figure: count(content.functions?.functions.length ?? 0), isThere: content.trees.length > 0 || !!content.functions?.functions.length },
    { page: "operators", title: "Operators", figure: count(operators || kernels), isThere: operators + kernels > 0 },
    { page: "device", title: "Device", isThere: !!content.device?.ranks.length },
    { page: "timeline", title: "Timeline", isThere: !!content.timeline?.lanes.length },
    { page: "memory", title: "Memory", isThere: !!content.memory?.processes.length },
    { page: "input", title: "Input", isThere: !!content.input?.loader },
    { page: "ranks", title: ranks > 1 || content.ranks?.traced ? "Ranks" : "Processes", figure: count(ranks > 1 ? ranks : summary.processes), isThere: ranks > 1 || summary.processes > 1 || !!content.ranks?.traced },
    { page: "files", title: "Files", figure: opened ? count(opened) : "", isThere: opened + named > 0 },
    { page: "compare", title: "Compare", isThere: content.compare !== null || (others?.runs.length ?? 0) > 1 },
    { page: "try", title: "Try", figure: content.trial ? count(content.trial.rungs.length) : "", isThere: content.trial !== null },
  ];
  return all.filter((each) => each.isThere);
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
  const pages = useMemo(() => pagesOf(content, others), [content, others]);
  const title = pages.find((each) => each.page === route.page)?.title;
  useEffect(() => { document.title = [title, content.facts.name, "stepscope"].filter(Boolean).join(" – "); }, [content, title]);
  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
      if ((event.key === "/" && !typing) || (event.key === "k" && (event.ctrlKey || event.metaKey))) { event.preventDefault(); setFinds(true); }
      const number = "1234567890".indexOf(event.key);
      if (event.altKey && number >= 0 && pages[number]) { event.preventDefault(); go(pages[number].page); }
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, [pages]);
  return (
    <div class="shell">
      <aside class="side">
        <div class="brand">stepscope</div>
        {others && <Link page="runs" class="back">◂ all runs</Link>}
        <div class="run-name"><Name text={content.facts.name} />{live && <span class="tag live">recording</span>}</div>
        <nav aria-label="Pages">
          {pages.map((each) => (
            <Link key={each.page} page={each.page} class={route.page === each.page ? "here" : ""}>
              <span>{each.title}</span><span class="faint number">{each.figure}</span>
            </Link>
          ))}
        </nav>
        <div class="side-foot">
          <button type="button" onClick={() => setFinds(true)}>Find <kbd>/</kbd></button>
          <ThemeSwitch />
        </div>
      </aside>
      <main id="main" tabIndex={-1}>
        <HasSource.Provider value={content.lines.length > 0}><Shown key={route.page} page={route.page} content={content} tiles={tiles} others={others} /></HasSource.Provider>
        <footer class="foot faint">made {content.made.slice(0, 16).replace("T", " ")} by stepscope {content.facts.stepscope}</footer>
      </main>
      {finds && <Finder content={content} pages={pages.map((each) => [each.page, each.title] as const)} onClose={() => setFinds(false)} />}
    </div>
  );
}

const EVERY_MS = 2000;

function Viewer() {
  const [list, setList] = useState<Listing | null>(null);
  const [shown, setShown] = useState<(Opened & { run: string }) | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const route = useRoute();
  const fail = (error: unknown) => setTrouble(error instanceof Error ? error.message : String(error));
  const isList = route.page === "runs" || (!list?.is_single && !route.query.run);
  const run = !list || (isList && !list.is_single) ? null : list.is_single ? list.runs[0]?.id ?? null : route.query.run;

  useEffect(() => { if (!list || isList) void listing().then(setList, fail); }, [isList]);
  useEffect(() => {
    setTrouble(null);
    if (!run) return;
    let gone = false, known = "";
    const load = async () => {
      try {
        const now = known ? (await version(run)).version : "";
        if (!gone && (!known || now !== known)) {
          const found = await opened(run);
          if (gone) return;
          known = found.version;
          setShown({ ...found, run });
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
  const others = useMemo(() => (!list || list.is_single || !run ? null : { run, runs: list.runs }), [list, run]);

  const isHere = shown !== null && shown.run === run;
  if (trouble && !isHere) return <main class="alone"><Page title="stepscope" note={list && !list.is_single && <Link page="runs">all runs</Link>}><Empty>{trouble}</Empty></Page></main>;
  if (!list) return <main class="alone"><Empty>Asking the server…</Empty></main>;
  if (!run) return <main class="alone"><RunList listing={list} /></main>;
  if (!isHere) return <main class="alone"><Preparing run={run} /></main>;
  return <Report content={shown.content} tiles={tiles} live={shown.is_running} others={others} />;
}

const given = embedded();
const app = document.getElementById("app")!;
app.textContent = "";
render(given.mode === "file" ? <Report content={given.content} tiles={null} /> : <Viewer />, app);
document.documentElement.dataset.ready = "yes";
