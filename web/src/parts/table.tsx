// A table that sorts by every column, filters, and unfolds a row; how it is sorted and filtered is in the address.
import { Fragment, type ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Link } from "./links";
import { Search } from "./panel";
import { count } from "../format";
import { go, useAsked, type Query } from "../route";

export interface Column<Row> {
  key: string;
  title: string;
  hint?: string;
  value: (row: Row) => number | string | null;
  cell?: (row: Row) => ComponentChildren;
  text?: boolean; // aligned to the left, first sorted upwards
  wide?: boolean;
  fill?: boolean; // takes the room that the others leave
}

const MORE = 500; // rows at a click

interface Props<Row> {
  label: string;
  rows: Row[];
  columns: Column<Row>[];
  sort: string;
  upwards?: boolean;
  find?: (row: Row) => string;
  rowKey: (row: Row, index: number) => string;
  chosen?: string;
  link?: (row: Row) => [page: string, query: Query]; // where a row leads; its first cell is the link
  unfolded?: (row: Row) => ComponentChildren;
  most?: number;
  actions?: ComponentChildren;
}

function compared(a: number | string | null, b: number | string | null): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  return typeof a === "string" || typeof b === "string" ? String(a).localeCompare(String(b)) : a - b;
}

function useFound<Row>(props: Props<Row>, filter: string): Row[] {
  return useMemo(() => {
    const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
    const find = props.find;
    if (!find || !words.length) return props.rows;
    return props.rows.filter((row) => {
      const text = find(row).toLowerCase();
      return words.every((word) => text.includes(word));
    });
  }, [props.rows, filter]);
}

function useSorted<Row>(found: Row[], column: Column<Row>, upwards: boolean): Row[] {
  return useMemo(() => {
    const sign = upwards ? 1 : -1;
    return found.map((row) => [column.value(row), row] as const)
      .sort(([a], [b]) => (a === null || b === null ? compared(a, b) : sign * compared(a, b)))
      .map(([, row]) => row);
  }, [found, column.key, upwards]);
}

// "-time": downwards by time.
function useSort<Row>(props: Props<Row>): [Column<Row>, boolean, (next: Column<Row>) => void] {
  const written = (key: string, upwards: boolean) => (upwards ? key : `-${key}`);
  const [sort, setSort] = useAsked(`sort ${props.label}`, written(props.sort, props.upwards ?? false));
  const upwards = !sort.startsWith("-"), key = sort.replace(/^-/, "");
  const column = props.columns.find((each) => each.key === key) ?? props.columns[0];
  return [column, upwards, (next) => setSort(written(next.key, next.key === column.key ? !upwards : !!next.text))];
}

export function Table<Row>(props: Props<Row>) {
  const [column, upwards, sortBy] = useSort(props);
  const [filter, setFilter] = useAsked<string>(`find ${props.label}`, "");
  const [most, setMost] = useState(props.most ?? 100);
  const found = useFound(props, filter);
  const rows = useSorted(found, column, upwards);

  // The chosen row is always shown and scrolled into view, wherever it sorts.
  const shown = rows.slice(0, most);
  const far = props.chosen === undefined ? undefined : rows.slice(most).find((row, index) => props.rowKey(row, most + index) === props.chosen);
  if (far !== undefined) shown.unshift(far);
  const body = useRef<HTMLTableSectionElement>(null);
  useEffect(() => { if (props.chosen !== undefined) body.current?.querySelector("tr.chosen")?.scrollIntoView({ block: "nearest" }); }, [props.chosen]);

  return (
    <div class="table-box">
      {(props.find || props.actions) && (
        <div class="table-tools">
          {props.find && <Search value={filter} onInput={setFilter} placeholder={`Filter ${props.label}`} />}
          <span class="faint" aria-live="polite">
            {rows.length === props.rows.length ? count(rows.length) : `${count(rows.length)} of ${count(props.rows.length)}`}
          </span>
          {props.actions}
        </div>
      )}
      <div class="table-scroll">
        <table aria-label={props.label}>
          <thead>
            <tr>
              {props.columns.map((each) => (
                <th key={each.key} class={each.text ? "" : "number"} scope="col"
                  aria-sort={each.key === column.key ? (upwards ? "ascending" : "descending") : "none"}>
                  <button type="button" title={each.hint} onClick={() => sortBy(each)}>
                    {each.title}{each.key === column.key && <span class="arrow" aria-hidden="true">{upwards ? "▴" : "▾"}</span>}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody ref={body}>
            {shown.map((row, index) => <Line key={props.rowKey(row, index)} props={props} row={row} chosen={props.rowKey(row, index) === props.chosen} />)}
          </tbody>
        </table>
      </div>
      {rows.length > most && (
        <button class="more" type="button" onClick={() => setMost(most + MORE)}>
          {rows.length - most > MORE ? `Show ${count(MORE)} more of ${count(rows.length)}` : `Show all ${count(rows.length)}`}
        </button>
      )}
      {!rows.length && <p class="empty">Nothing matches.</p>}
    </div>
  );
}

function Line<Row>({ props, row, chosen }: { props: Props<Row>; row: Row; chosen: boolean }) {
  const to = props.link?.(row);
  const shown = (each: Column<Row>) => (each.cell ? each.cell(row) : each.value(row));
  return (
    <Fragment>
      <tr class={`${to ? "clickable" : ""} ${chosen ? "chosen" : ""}`} aria-expanded={props.unfolded ? chosen : undefined}
        onClick={(event) => { if (to && !event.defaultPrevented && !getSelection()?.toString()) go(...to); }}>
        {props.columns.map((each, index) => (
          <td key={each.key} class={`${each.text ? "" : "number"} ${each.wide ? "wide" : ""} ${each.fill ? "fill" : ""}`}>
            {to && index === 0 ? <Link page={to[0]} query={to[1]} class="row-link">{shown(each)}</Link> : shown(each)}
          </td>
        ))}
      </tr>
      {chosen && props.unfolded && (
        <tr class="unfolded"><td colSpan={props.columns.length}>{props.unfolded(row)}</td></tr>
      )}
    </Fragment>
  );
}
