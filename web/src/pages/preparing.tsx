// What a person sees of a run that takes a while: that it is being read, what of it, and for how long.
import { useEffect, useState } from "preact/hooks";
import { size } from "../format";
import type { RunProgress } from "../data";
import { progress } from "../server";
import { Name } from "../parts/links";
import { Empty, Page } from "../parts/panel";

const ASKED_MS = 500;
const BIG_BYTES = 50e6;

export function Preparing({ run }: { run: string }) {
  const [told, setTold] = useState<RunProgress | null>(null);
  useEffect(() => {
    let timer = 0, gone = false;
    const ask = async () => {
      const found = await progress(run).catch(() => null);
      if (gone) return;
      if (found) setTold(found);
      timer = window.setTimeout(ask, ASKED_MS);
    };
    timer = window.setTimeout(ask, ASKED_MS / 2);
    return () => { gone = true; clearTimeout(timer); };
  }, [run]);
  const isBig = told !== null && told.trace_bytes > BIG_BYTES;
  return (
    <Page title="Preparing the run" told={<Name text={run} />}>
      <Empty>
        {told?.what ? <>{told.what}: {Math.round(told.seconds)} s so far…</> : "Reading the run…"}
        {isBig && <> It has {size(told.trace_bytes)} of operators, which takes a while the first time. What is found is kept with the run, and the next time it opens at once.</>}
      </Empty>
    </Page>
  );
}
