// Made from the Python records by web/make_types.py: change those and run it again.

import type {
  ActionsAnswer, ComparisonAnswer, DeviceAnswer, FilesAnswer, FindingsAnswer, InputAnswer,
  KernelsAnswer, Location, MemoryAnswer, OpsAnswer, Process, ProcessesAnswer, RanksAnswer,
  RegionsAnswer, SummaryAnswer, TrialAnswer,
} from "./answers";

// How and where the run was made.
export interface Facts {
  name: string; path: string; script: string | null; cwd: string | null; host: string | null;
  system: string | null; cpu: string | null; cores: number | null; memory_bytes: number | null;
  versions: Record<string, unknown>; git: Record<string, unknown> | null;
  options: Record<string, unknown>; stepscope: string; is_trace: boolean;
}

// Something that can be recorded: whether it was, how much, and how to get it.
export interface Recorded {
  what: string; is_there: boolean; text: string;
}

// One entry per step; `number`: as in every view. Very many steps come in groups, as means.
export interface StepColumns {
  number: number[]; start_ns: number[]; duration_ns: number[]; measured: boolean[];
  estimated: boolean[]; phases: Record<string, number[]>; group: number; outliers: number[];
  slow_phase: string[];
}

export interface NextQuestion {
  words: string; command: string;
}

// The lines of one function that were hit. Rows: line, hits, ns, ops_ns, device_ns, alloc_bytes, estimated, likely_hits.
export interface FileLines {
  file: string; function: string; first_line: number; process: Process; total_ns: number;
  calls: number | null;
  rows: ([number, number, number, number | null, number | null, number | null, boolean, number | null])[];
}

// The calls in threads of one kind: rows in order, callers before callees.
export interface Tree {
  source: "samples" | "calls"; process: Process; thread: string; threads: number; main: boolean;
  total_ns: number; samples: number | null; depth: number[]; function: number[]; total: number[];
  own: number[]; calls: number[] | null;
}

// A row of the functions' table.
export interface ShownFunction {
  file: string; line: number; function: string; process: Process; ncalls: number | null;
  primitive_calls: number | null; tottime_ns: number | null; cumtime_ns: number | null;
  estimated: boolean; callers: ([number, number | null, number, number])[];
  callees: ([number, number | null, number, number])[];
}

export interface FunctionTable {
  functions: ShownFunction[]; exact: boolean; notes: string[];
}

// A row of the timeline. `start` holds the distance to the start before, `lasted` ns.
export interface Lane {
  process: number; thread: string; title: string;
  kind: "step" | "phase" | "region" | "action" | "stage" | "import" | "file" | "line" | "stack" | "operator" | "device" | "window";
  depth: number; spans: number; start: number[]; lasted: number[]; name: number[]; level: number[];
  count: number[] | null; place: number[] | null;
}

// A number over time; each value holds until the next moment.
export interface Counter {
  process: number; title: string; unit: string; at_ns: number[]; values: number[];
}

export interface Timeline {
  processes: string[]; names: string[]; places: Location[]; lanes: Lane[];
  flows: [number, number, number, number][]; from_ns: number; to_ns: number; whole_ns: number;
  main_ns: number; counters: Counter[];
}

// How a line's time was spent, and when, as the samples saw it: estimates.
export interface LineSamples {
  file: string; line: number; process: Process; own_ns: number; calls_ns: number;
  python_ns: number | null; native_ns: number | null; waiting_ns: number | null; course: number[];
}

// Everything that the page shows about a run. What failed is null, and `trouble` says why.
export interface Content {
  facts: Facts; verdict: string; summary: SummaryAnswer; words: Record<string, string>;
  least_share: number; least_line_share: number; nothing: Record<string, string>;
  straggler: string | null; recorded: Recorded[]; steps: StepColumns | null;
  findings: FindingsAnswer | null; next: NextQuestion[]; lines: FileLines[];
  sources: Record<string, string[]> | null; called: ([string, string, number, string | null])[];
  trees: Tree[]; functions: FunctionTable | null; ops_by_shape: OpsAnswer | null;
  ops_by_module: OpsAnswer | null; timeline: Timeline | null; reduced: string[]; trouble: string[];
  made: string; can_try: boolean; compare: ComparisonAnswer | null; trial: TrialAnswer | null;
  line_samples: LineSamples[]; regions: RegionsAnswer | null; actions: ActionsAnswer | null;
  ops: OpsAnswer | null; kernels: KernelsAnswer | null; device: DeviceAnswer | null;
  input: InputAnswer | null; files: FilesAnswer | null; memory: MemoryAnswer | null;
  ranks: RanksAnswer | null; processes: ProcessesAnswer | null;
}

// What was found out about a run, in one row.
export interface RunFigures {
  verdict: string; wall_ns: number; mean_step_ms: number | null; per_s: number | null;
  samples_per_s: number | null;
}

// A run in the list.
export interface RunEntry {
  id: string; name: string; command: string[]; started_s: number | null; modified_s: number;
  is_running: boolean; script: string | null; figures: RunFigures | null; change: number | null;
  status: string | null;
}

// What is being computed for a run, since when, and how much there is to read.
export interface RunProgress {
  what: string | null; seconds: number; trace_bytes: number;
}
