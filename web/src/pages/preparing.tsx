// Shown while a run is being prepared: what is being read, and for how long.
import { useEffect, useState } from "preact/hooks";
import { size } from "../format";
import type { RunProgress } from "../data";
import { progress } from "../server";
import { Name } from "../parts/links";
import { Empty, Page } from "../parts/panel";

const ASKED_MS = 500;
const BIG_BYTES = 50e6;

export function Preparing({ run }: { run: string }) {
  const [progressed, setProgressed] = useState<RunProgress | null>(null);
  useEffect(() => {
    let timer = 0, gone = false;
    const ask = async () => {
      const found = await progress(run).catch(() => null);
      if (gone) return;
      if (found) setProgressed(found);
      timer = window.setTimeout(ask, ASKED_MS);
    };
    timer = window.setTimeout(ask, ASKED_MS / 2);
    return () => { gone = true; clearTimeout(timer); };
  }, [run]);
  const isBig = progressed !== null && progressed.trace_bytes > BIG_BYTES;
  return (
    <Page title="Preparing the run" note={<Name text={run} />}>
      <Empty>
        {progressed?.what ? <>{progressed.what}: {Math.round(progressed.seconds)} s so far…</> : "Reading the run…"}
        {isBig && <> It has {size(progressed.trace_bytes)} of operators, which take a while to read the first time. The results are kept with the run, so that it opens at once the next time.</>}
      </Empty>
    </Page>
  );
}
