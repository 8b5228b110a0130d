// The parts of every page: a heading, a panel, figures, and a text if there is nothing to show.
import type { ComponentChildren } from "preact";
import { visible } from "./links";

export function Page(props: { title: string; note?: ComponentChildren; children?: ComponentChildren; actions?: ComponentChildren }) {
  return (
    <div class="page">
      <header class="page-head">
        <h1>{props.title}</h1>
        {props.note && <p>{props.note}</p>}
        {props.actions && <div class="actions">{props.actions}</div>}
      </header>
      {props.children}
    </div>
  );
}

export function Panel(props: { title?: ComponentChildren; note?: ComponentChildren; class?: string; actions?: ComponentChildren; children?: ComponentChildren }) {
  return (
    <section class={`panel ${props.class ?? ""}`}>
      {(props.title || props.actions) && (
        <div class="panel-head">
          {props.title && <h2>{props.title}</h2>}
          {props.note && <span class="faint">{props.note}</span>}
          {props.actions && <div class="actions">{props.actions}</div>}
        </div>
      )}
      {props.children}
    </section>
  );
}

export function Figure(props: { label: string; value: ComponentChildren; note?: ComponentChildren }) {
  return (
    <div class="figure">
      <span class="faint">{props.label}</span>
      <strong class={typeof props.value === "string" && props.value.length > 11 ? "long" : ""}>{props.value}</strong>
      <small class="faint">{props.note ?? "\u00a0"}</small>
    </div>
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

export function Notes({ notes, title = "Good to know" }: { notes: string[] | undefined; title?: string }) {
  if (!notes?.length) return null;
  return (
    <Panel title={title} class="notes">
      <ul>{notes.map((note) => <li key={note}>{visible(note)}</li>)}</ul>
    </Panel>
  );
}

export function Choice<T extends string>(props: { label: string; value: T; options: readonly (readonly [T, string])[]; onChange: (value: T) => void }) {
  return (
    <div class="choice" role="group" aria-label={props.label}>
      {props.options.map(([value, text]) => (
        <button key={value} type="button" aria-pressed={value === props.value} onClick={() => props.onChange(value)}>{text}</button>
      ))}
    </div>
  );
}

export function Select(props: { label: string; value: string; options: readonly (readonly [string, string])[]; onChange: (value: string) => void }) {
  return (
    <label class="select">
      <span class="faint">{props.label}</span>
      <select value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
        {props.options.map(([value, text]) => <option key={value} value={value}>{visible(text)}</option>)}
      </select>
    </label>
  );
}

export function Search(props: { value: string; onInput: (value: string) => void; placeholder: string; onEnter?: (back: boolean) => void }) {
  return (
    <input class="search" type="search" value={props.value} placeholder={props.placeholder} aria-label={props.placeholder}
      onInput={(event) => props.onInput(event.currentTarget.value)}
      onKeyDown={(event) => { if (event.key === "Enter") props.onEnter?.(event.shiftKey); }} />
  );
}
