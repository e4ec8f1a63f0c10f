import type { ComponentChildren } from 'preact';
import type { ApiError } from '../api.ts';
import { linkToSubject } from '../router.ts';
import { nameSubject, visible } from './text.ts';

/** Text of others, which cannot reorder what stands around it. */
export function Said({ children }: { readonly children: string }) {
  return <bdi>{visible(children)}</bdi>;
}

export function Chip({
  tone = 'plain',
  children,
}: {
  readonly tone?: 'plain' | 'warn' | 'bad' | 'good';
  readonly children: ComponentChildren;
}) {
  return <span class={`chip chip-${tone}`}>{children}</span>;
}

/** The name of a subject, which leads to its page. */
export function Subject({ of }: { readonly of: string }) {
  const { name } = nameSubject(of);
  return (
    <a class="subject" href={linkToSubject(of)} title={visible(of)}>
      <Said>{name}</Said>
    </a>
  );
}

export function Key({ children }: { readonly children: string }) {
  return <kbd>{children}</kbd>;
}

export function Failure({ error }: { readonly error: ApiError }) {
  return (
    <div class="failure" role="alert">
      <p>
        <Said>{error.message}</Said>
      </p>
      {error.hint === undefined ? null : (
        <p class="soft">
          <Said>{error.hint}</Said>
        </p>
      )}
    </div>
  );
}

/** A place that keeps its size until the data are there. */
export function Waiting() {
  return (
    <div class="waiting" role="status">
      <span class="visually-hidden">Loading</span>
      <i />
      <i />
      <i />
    </div>
  );
}

export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

/** A page's title, and what stands beside it. */
export function Title({
  children,
  aside,
}: {
  readonly children: ComponentChildren;
  readonly aside?: ComponentChildren;
}) {
  return (
    <header class="title">
      <h1>{children}</h1>
      {aside === undefined ? null : <div class="aside">{aside}</div>}
    </header>
  );
}

export function Section({
  title,
  note,
  children,
}: {
  readonly title: string;
  readonly note?: string;
  readonly children: ComponentChildren;
}) {
  return (
    <section class="section">
      <h2>
        {title}
        {note === undefined ? null : <small>{note}</small>}
      </h2>
      {children}
    </section>
  );
}
