import type { Pin } from '../../context/claims/pins.ts';
import type { Conflict } from '../../context/compile/conflicts.ts';
import type { IngestReport } from '../../ingest/report.ts';
import { formatCount } from '../../lib/format-count.ts';
import { redactProse } from '../../lib/patterns/credentials.ts';
import type { NoteStatus } from '../learn/remember.ts';
import type { KnownNote } from '../open/known-notes.ts';
import type { Decision } from '../review/decide/decision.ts';
import { visibleText } from '../trust/visible-text.ts';

/** What a reviewer reads of a change. */
export interface ChangeText {
  readonly title: string;
  /** Markdown. */
  readonly parts: readonly string[];
}

export function describeNote({ id, status }: NoteStatus, text: string): ChangeText {
  const state =
    status === 'read'
      ? 'A model has read it; the files below have what it says.'
      : status === 'proposed'
        ? `It corrects what holds. Once it is merged, a person decides: ktx review accept ${id}`
        : 'No model has read it yet.';
  return { title: `Note ${id}`, parts: ['The note:', quote(text), state] };
}

export function describeDecision(decision: Decision, conflict: Conflict | undefined): ChangeText {
  const { verb, subject, kind } = decision;
  const what = {
    choose: 'Decide',
    edit: 'Define',
    defer: 'Put off',
    undo: 'Reopen',
  } as const;
  const chosen =
    verb === 'choose'
      ? [`Chosen: ${inline(decision.version)}`]
      : verb === 'edit'
        ? ['A new definition:', quote(decision.definition)]
        : [];
  const why = 'why' in decision && decision.why !== undefined ? ['Why:', quote(decision.why)] : [];
  const versions = (conflict?.variants ?? []).flatMap(({ id, says, evidence }) => [
    `Version ${inline(id)}, from ${evidence.slice(0, 5).map(inline).join(', ')}:`,
    quote(JSON.stringify(says, null, 2)),
  ]);
  const title = `${what[verb]} ${subject} (${kind})`;
  return { title, parts: [...chosen, ...why, ...versions] };
}

/** What a person answered in the review queue. */
export function describeReview(pins: readonly Pin[], says: string): ChangeText {
  const [pin] = pins;
  const about = pins.length === 1 && pin ? pin.subject : formatCount(pins.length, 'subject');
  const decided = pins.flatMap(({ subject, kind, choose, says: held, why }) => [
    `${inline(subject)} (${inline(kind)}): ${inline(choose)}`,
    ...(held === undefined ? [] : [quote(JSON.stringify(held, null, 2))]),
    ...(why === undefined ? [] : ['Why:', quote(why)]),
  ]);
  return { title: `Review ${about}: ${says}`, parts: decided };
}

export function describeForgotten({ id, text }: KnownNote): ChangeText {
  return { title: `Remove note ${id}`, parts: ['The note:', quote(text)] };
}

export function describeIngest(report: IngestReport): ChangeText {
  const { connections, sources, conflicts, quarantined, exitCode } = report;
  const names = [...connections, ...sources].map(({ connection }) => connection);
  const counts = [
    formatCount(conflicts.length, 'open conflict'),
    `${formatCount(quarantined.length, 'fact')} left out`,
  ];
  const isPartial = exitCode === 0 ? [] : ['The run is partial: not everything could be read.'];
  const read = `Read: ${names.map(inline).join(', ')}. ${counts.join(', ')}.`;
  return { title: `Update ${names.join(', ')}`, parts: [read, ...isPartial] };
}

const mostFiles = 30;

/** Characters of a quoted text, and of all parts: GitHub refuses a body of more than 65,536. */
const longestQuote = 10_000;
const longestParts = 50_000;

/**
 * The body of the request. Text of people is quoted, so that a host reads no command in it. What it
 * shows of sources may have a credential: that stays here.
 */
export function requestBody(
  { parts }: ChangeText,
  { author, files }: { readonly author: string; readonly files: readonly string[] },
): string {
  const shown = files.slice(0, mostFiles).map((path) => `- ${inline(path)}`);
  const rest = files.length - shown.length;
  const body = [
    `Proposed by ${inline(author)} through the MCP server of ktx.`,
    ...shortened(parts),
    `${formatCount(files.length, 'file')}:`,
    [...shown, ...(rest > 0 ? [`- and ${rest} more`] : [])].join('\n'),
    'The same proposal again brings this request up to date with its base.',
  ].join('\n\n');
  return redactProse(body);
}

function shortened(parts: readonly string[]): readonly string[] {
  let length = 0;
  const fitting = parts.filter((part) => (length += part.length) <= longestParts);
  return fitting.length === parts.length ? parts : [...fitting, 'The files have the rest.'];
}

const longestTitle = 100;

/** One line without what a host or git takes for a mention, an issue or a command. */
export function requestTitle({ title }: ChangeText): string {
  const line = visibleText(title, longestTitle).replaceAll(/[@#!`<>[\]]/g, ' ');
  return `ktx: ${line.replaceAll(/\s+/g, ' ').trim()}`;
}

/** A block whose end the text does not have. */
function quote(said: string): string {
  // Before it is cut: half of an address with a password no longer looks like one.
  const whole = redactProse(said);
  const isLong = whole.length > longestQuote;
  const text = isLong ? `${whole.slice(0, longestQuote).toWellFormed()} …` : whole;
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}

function inline(text: string): string {
  return `\`${visibleText(redactProse(text), 200).replaceAll('`', '’')}\``;
}
