// A table that sorts by every column, filters, and unfolds a row.
import { Fragment, type ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Search } from "./panel";
import { count } from "../format";

export interface Column<Row> {
  key: string;
  title: string;
  hint?: string;
  value: (row: Row) => number | string | null;
  cell?: (row: Row) => ComponentChildren;
  text?: boolean; // aligned to the left, first sorted upwards
  wide?: boolean;
}

interface Props<Row> {
  label: string;
  rows: Row[];
  columns: Column<Row>[];
  sort: string;
  upwards?: boolean;
  find?: (row: Row) => string;
  filter?: string;
  rowKey: (row: Row, index: number) => string;
  chosen?: string;
  onRow?: (row: Row) => void;
  unfolded?: (row: Row) => ComponentChildren;
  most?: number;
  actions?: ComponentChildren;
}

function compared(a: number | string | null, b: number | string | null): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  return typeof a === "string" || typeof b === "string" ? String(a).localeCompare(String(b)) : a - b;
}

export function Table<Row>(props: Props<Row>) {
  const [sort, setSort] = useState({ key: props.sort, upwards: props.upwards ?? false });
  const [filter, setFilter] = useState(props.filter ?? "");
  const [most, setMost] = useState(props.most ?? 100);
  const column = props.columns.find((each) => each.key === sort.key) ?? props.columns[0];

  const found = useMemo(() => {
    const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
    const find = props.find;
    if (!find || !words.length) return props.rows;
    return props.rows.filter((row) => {
      const text = find(row).toLowerCase();
      return words.every((word) => text.includes(word));
    });
  }, [props.rows, filter]);

  const rows = useMemo(() => {
    const sign = sort.upwards ? 1 : -1;
    return found.map((row) => [column.value(row), row] as const)
      .sort(([a], [b]) => (a === null || b === null ? compared(a, b) : sign * compared(a, b)))
      .map(([, row]) => row);
  }, [found, column, sort.upwards]);

  // The chosen row is always shown and scrolled into view, wherever it sorts.
  const shown = rows.slice(0, most);
  const far = props.chosen === undefined ? undefined : rows.slice(most).find((row, index) => props.rowKey(row, most + index) === props.chosen);
  if (far !== undefined) shown.unshift(far);
  const body = useRef<HTMLTableSectionElement>(null);
  useEffect(() => { if (props.chosen !== undefined) body.current?.querySelector("tr.chosen")?.scrollIntoView({ block: "nearest" }); }, [props.chosen]);

  const sortBy = (next: Column<Row>) =>
    setSort({ key: next.key, upwards: next.key === sort.key ? !sort.upwards : !!next.text });

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
                  aria-sort={each.key === sort.key ? (sort.upwards ? "ascending" : "descending") : "none"}>
                  <button type="button" title={each.hint} onClick={() => sortBy(each)}>
                    {each.text && each.title}<span class="arrow" aria-hidden="true">{each.key === sort.key ? (sort.upwards ? "▴" : "▾") : ""}</span>{!each.text && each.title}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody ref={body}>
            {shown.map((row, index) => {
              const key = props.rowKey(row, index);
              const chosen = key === props.chosen;
              return (
                <Fragment key={key}>
                  <tr class={`${props.onRow ? "clickable" : ""} ${chosen ? "chosen" : ""}`} tabIndex={props.onRow ? 0 : undefined}
                    aria-expanded={props.unfolded ? chosen : undefined}
                    onClick={() => props.onRow?.(row)}
                    onKeyDown={(event) => {
                      if (event.target === event.currentTarget && (event.key === "Enter" || event.key === " ")) {
                        event.preventDefault();
                        props.onRow?.(row);
                      }
                    }}>
                    {props.columns.map((each) => (
                      <td key={each.key} class={`${each.text ? "" : "number"} ${each.wide ? "wide" : ""}`}>
                        {each.cell ? each.cell(row) : each.value(row)}
                      </td>
                    ))}
                  </tr>
                  {chosen && props.unfolded && (
                    <tr class="unfolded"><td colSpan={props.columns.length}>{props.unfolded(row)}</td></tr>
                  )}
                </Fragment>
              );
            })}
          </tbody>
        </table>
      </div>
      {rows.length > most && (
        <button class="more" type="button" onClick={() => setMost(most + 500)}>
          Show {count(Math.min(500, rows.length - most))} more of {count(rows.length - most)}
        </button>
      )}
      {!rows.length && <p class="empty">Nothing matches.</p>}
    </div>
  );
}
