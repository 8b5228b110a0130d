// What Python hands over: the answers of `show --json`, and columns where there are many rows.

export interface Process { role: string; rank: number | null; pid: number | null }
export interface Location { file: string; line: number; function: string | null }
export interface Share { category: string; share: number; ms: number; device_ms: number | null }
export interface Spread { mean: number; median: number; p10: number; p90: number }

export interface StepsAnswer {
  steps: number; warmup: number | null; measured: number | null; step_ms: Spread | null;
  rate: { per_s: number; samples_per_s: number | null } | null; breakdown: Share[] | null;
  bound: string | null; reason: string | null; anchor: string | null;
  overhead: { share: number; budget: number; thinned: string[] } | null;
}

export interface Summary {
  run: string; command: string[]; started: string; wall_ns: number; processes: number; notes: string[];
  ending: { how: string; exit_status: number | null; signal: string | null };
  parts: { category: string; ns: number; share: number }[];
  steps: StepsAnswer; hottest: Location[]; hottest_ns: number[]; hottest_source: (string | null)[];
}

export interface Finding {
  id: string; severity: string; title: string; share: number | null; evidence: string[]; confidence: string;
  location: Location | null; process: Process | null;
  speedup: { expected: number; low: number; high: number } | null;
  fix: string; patch: string | null; trial: string | null; library: string | null; source: string | null;
  then: string | null;
}
export interface Findings {
  verdict: string; findings: Finding[]; not_judged: { id: string; reason: string }[];
  outliers: { step: number; duration_ms: number; usual_ms: number; why: string }[]; notes: string[];
}

export interface StepColumns {
  number: number[]; start_ns: number[]; duration_ns: number[]; measured: boolean[];
  estimated: boolean[]; phases: Record<string, number[]>; group: number; outliers: number[]; slow_phase: string[];
}

// line, hits, ns, ops_ns, device_ns, alloc_bytes, estimated
export type LineRow = [number, number, number, number | null, number | null, number | null, boolean];
export interface FileLines {
  file: string; function: string; first_line: number; process: Process; total_ns: number;
  calls: number | null; rows: LineRow[];
}

export type Called = [name: string, file: string, line: number, library: string | null];
export interface Tree {
  source: "samples" | "calls"; process: Process; thread: string; threads: number; main: boolean;
  total_ns: number; samples: number | null; depth: number[]; function: number[]; total: number[];
  own: number[]; calls: number[] | null;
}

export type Caller = [called: number, ncalls: number, tottime_ns: number, cumtime_ns: number];
export interface FunctionRow {
  file: string; line: number; function: string; process: Process; ncalls: number | null;
  primitive_calls: number | null; tottime_ns: number | null; cumtime_ns: number | null;
  estimated: boolean; callers: Caller[]; callees: Caller[];
}

export interface OpRow {
  name: string; input_shapes: unknown[] | null; calls: number; self_cpu_ns: number; total_cpu_ns: number;
  self_device_ns: number | null; total_device_ns: number | null; self_cpu_bytes: number | null;
  self_device_bytes: number | null; location: Location | null; flops: number | null;
  locations: { file: string; line: number; calls: number; self_cpu_ns: number }[];
}
export interface OpsWindow {
  file: string; start_ns: number | null; duration_ns: number; steps: number | null; operators: number;
  of_script: boolean; slowdown: number | null;
}
export interface Ops { ops: OpRow[]; windows: OpsWindow[]; notes: string[] }
export interface KernelRow {
  name: string; kind: string; device: number | null; calls: number; total_ns: number; mean_ns: number;
  share: number; operator: string | null; location: Location | null;
}

export interface DeviceRow {
  rank: number | null; steps: number | null; wall_ns: number; busy_ns: number; compute_ns: number;
  communication_ns: number; exposed_communication_ns: number; memcpy_ns: number; idle_ns: number;
  idle: { host_wait_ns: number; kernel_wait_ns: number; other_ns: number }; device: number | null;
}

export interface Stage {
  process: Process; stage: string; ms_per_batch: number; share: number; calls: number | null;
  parallelism: number | null;
}
export interface InputAnswer {
  loader: { workers: number | null; batch_size: number | null; wait_ms: number; share: number;
    steps_that_waited: number; steps: number; longest_ms: number } | null;
  limit: string | null; why: string | null;
  stages: Stage[]; operations: Stage[];
  lines: { file: string; line: number; function: string | null; ms_per_batch: number; share: number;
    source: string | null }[];
  library: { function: string; file: string; share: number }[];
  start_up_ms: number | null; busy: number | null; cores: number | null; idle_cores: number | null;
  reason: string | null; notes: string[];
}

export interface FileRow {
  path: string; opens: number; writing: boolean; steps: number | null; total_ns: number;
  estimated: boolean; location: Location | null; process: Process;
}
export interface ProcessMemory {
  process: Process; first_bytes: number; peak_bytes: number; last_bytes: number;
  growth_bytes_per_step: number | null; points: { at_ns: number; resident_bytes: number }[];
}
export interface LineMemory {
  location: Location; process: Process; alloc_bytes: number; kept_bytes: number; source: string | null;
}
export interface RankRow {
  rank: number; host: string; pid: number; steps: number; step_ms: number | null; own_ms: number | null;
  communication_ms: number | null; waiting_ms: number | null; input_ms: number | null; status: string;
}
export interface ProcessRow {
  process: Process; parent_pid: number | null; host: string; argv: string[]; wall_ns: number;
  cpu_ns: number | null; read_bytes: number | null; written_bytes: number | null;
  peak_bytes: number | null; threads: number; status: string; overhead_share: number | null; notes: string[];
}
export interface NamedRow {
  name: string; depth: number; calls: number; total_ns: number; self_ns: number; mean_ns: number;
  share: number | null; process?: Process; per_step_ns?: number | null;
}

export interface Lane {
  process: number; thread: string; title: string; kind: string; depth: number; spans: number;
  start: number[]; lasted: number[]; name: number[]; level: number[]; count: number[] | null;
  place: number[] | null;
}
export interface Timeline {
  processes: string[]; names: string[]; places: Location[]; lanes: Lane[];
  flows: [number, number, number, number][]; from_ns: number; to_ns: number; whole_ns: number; main_ns: number;
}

export interface Comparison {
  speedup: number | null; low: number | null; high: number | null; basis: string; significant: boolean;
  verdict: string;
  changes: { what: string; name: string; before_ns: number; after_ns: number; location: Location | null }[];
}

export interface Content {
  facts: { name: string; path: string; script: string | null; cwd: string | null; host: string | null;
    system: string | null; cpu: string | null; cores: number | null; memory_bytes: number | null;
    versions: Record<string, unknown>; git: Record<string, unknown> | null;
    options: Record<string, unknown>; stepscope: string; is_trace: boolean };
  verdict: string; summary: Summary; words: Record<string, string>;
  recorded: { what: string; is_there: boolean; told: string }[];
  steps: StepColumns | null; findings: Findings | null; lines: FileLines[];
  sources: Record<string, string[]> | null; called: Called[]; trees: Tree[];
  functions: { functions: FunctionRow[]; exact: boolean; notes: string[] } | null;
  ops: Ops | null; ops_by_shape: Ops | null;
  kernels: { kernels: KernelRow[]; windows: OpsWindow[]; notes: string[] } | null;
  device: { ranks: DeviceRow[]; notes: string[] } | null;
  input: InputAnswer | null;
  files: { files: FileRow[]; read_bytes: number | null; written_bytes: number | null; notes: string[] } | null;
  memory: { processes: ProcessMemory[]; machine_bytes: number | null; limit_bytes: number | null;
    notes: string[]; lines: LineMemory[] | null } | null;
  ranks: { ranks: RankRow[]; straggler: { rank: number; why: string; location: Location | null;
    cost_ms: number; source: string | null } | null; skew_ms: number | null; expected: number | null;
    reason: string | null; notes: string[] } | null;
  processes: { processes: ProcessRow[]; notes: string[] } | null;
  regions: { regions: NamedRow[]; notes: string[] } | null;
  actions: { actions: NamedRow[]; total_ns: number; notes: string[] } | null;
  timeline: Timeline | null; reduced: string[]; trouble: string[]; made: string; can_try: boolean;
  compare?: Comparison | null;
}

export interface RunEntry {
  id: string; name: string; command: string[]; started_s: number | null; modified_s: number;
  is_running: boolean; script: string | null;
}

export type Embedded = { mode: "file"; content: Content } | { mode: "server" };

export function embedded(): Embedded {
  return JSON.parse(document.getElementById("data")!.textContent!) as Embedded;
}
