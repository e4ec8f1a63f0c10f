import { parseDocument } from 'yaml';
import { z } from 'zod';
import { errorMessage, UserError } from '../../lib/error.ts';
import { readYaml } from '../../lib/yaml/read-yaml.ts';
import { anyJsonSchema } from './claim.ts';

export const pinsPath = 'pins.yaml';

export const pinSchema = z.strictObject({
  subject: z.string(),
  kind: z.string(),
  choose: z
    .string()
    .describe('Id of the claim that holds; `none`: none of them does; `later`: not decided yet.'),
  seen: z
    .array(z.string())
    .describe('Ids of all claims that were on the table; another one opens the question again.'),
  source: z
    .strictObject({ connection: z.string(), item: z.string().optional() })
    .optional()
    .describe('Where the claim stood. A new definition there takes its place, and asks again.'),
  said: anyJsonSchema
    .optional()
    .describe('What the chosen claim says. Review shows it once its source says it no longer.'),
  says: anyJsonSchema
    .optional()
    .describe('What holds, for a decision that stands without the claim: an accepted join.'),
  until: z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}$/)
    .optional()
    .describe('With `later`: the day on which the question comes back.'),
  by: z.string().optional(),
  at: z.string().optional(),
  why: z.string().optional(),
});
const pinsSchema = z.strictObject({ pins: z.array(pinSchema) });
/** A person's decision about a conflict. */
export type Pin = Readonly<z.infer<typeof pinSchema>>;

/** The `choose` of a pin that says that no claim about the subject holds. */
export const noneOfThem = 'none';

/** The `choose` of an entry that puts a decision off. */
export const decideLater = 'later';

/** The `choose` of a decision that is never written: the newest one is taken out. */
export const takenBack = 'open';

export interface ParsedPins {
  readonly pins: readonly Pin[];
  /** What people put off. It decides nothing. */
  readonly deferred: readonly Pin[];
  /** Why the file cannot be read. Then there are no pins, and ktx does not write the file. */
  readonly fault?: string;
}

/** Parses any text without failing. */
export function parsePins(text: string | undefined): ParsedPins {
  const { entries, fault } = readEntries(text);
  const pins = entries.filter(({ choose }) => choose !== decideLater);
  const deferred = entries.filter(({ choose }) => choose === decideLater);
  return fault === undefined ? { pins, deferred } : { pins, deferred, fault };
}

/** The first thing that is wrong with a file, as the end of a sentence. */
export function firstProblem(error: z.ZodError): string {
  return (z.prettifyError(error).split('\n')[0] ?? '').replace(/^✖ /, '');
}

/** What people decided; an error if the file cannot be read: nothing may change by it then. */
export function requirePins(text: string | undefined): ParsedPins {
  const parsed = parsePins(text);
  if (parsed.fault === undefined) return parsed;
  throw new UserError('pins_unreadable', `${pinsPath} cannot be read: ${parsed.fault}`, {
    hint: 'Correct the file: it has what people decided, and nothing changes until then.',
    exitCode: 2,
  });
}

function readEntries(text: string | undefined): {
  readonly entries: readonly Pin[];
  readonly fault?: string;
} {
  if (text === undefined || text.trim() === '') return { entries: [] };
  try {
    const { data, error } = pinsSchema.safeParse(readYaml(text));
    if (data !== undefined) return { entries: data.pins };
    return { entries: [], fault: firstProblem(error) };
  } catch (error) {
    return { entries: [], fault: `it is not valid YAML: ${errorMessage(error).split('\n')[0]}` };
  }
}

/**
 * The pin about a subject and kind. Of several, the last one in the file counts: it is the newest.
 */
export function findPin(
  pins: readonly Pin[],
  { subject, kind }: Pick<Pin, 'subject' | 'kind'>,
): Pin | undefined {
  return pins.findLast((pin) => pin.subject === subject && pin.kind === kind);
}

/**
 * The file with the pin in place of older ones about the same subject and kind. What a person wrote
 * last stays before it: it holds again once the pin is taken back. One that puts a
 * decision off leaves what was decided before. One that takes the newest back only removes it.
 * Comments stay. A text that cannot be read is returned unchanged.
 *
 * The pin is one line: git unites the lines of two branches, and of two pins with lines in common
 * it would make one that nobody can read.
 */
export function setPin(text: string | undefined, pin: Pin): string {
  const { entries, fault } = readEntries(text);
  if (text !== undefined && fault !== undefined) return text;
  const document = parseDocument(
    text === undefined || text.trim() === ''
      ? '# What people decided about conflicts.\npins: []\n'
      : text,
  );
  for (const index of replacedBy(pin, entries).toReversed()) document.deleteIn(['pins', index]);
  if (pin.choose === takenBack) return documentText(document);
  const entry = document.createNode(pin, { flow: true });
  const list = document.get('pins', true);
  if (list !== null && typeof list === 'object' && 'flow' in list) list.flow = false;
  document.addIn(['pins'], entry);
  return documentText(document);
}

/** The places of the entries that a pin takes the place of. */
function replacedBy(pin: Pin, entries: readonly Pin[]): readonly number[] {
  const isSame = (older: Pin) => older.subject === pin.subject && older.kind === pin.kind;
  if (pin.choose === takenBack) return [entries.findLastIndex(isSame)].filter((at) => at !== -1);
  const isReplaced = (older: Pin) =>
    isSame(older) && (pin.choose !== decideLater || older.choose === decideLater);
  const own = entries.findLast((older) => isSame(older) && older.says !== undefined);
  const kept = own?.choose === pin.choose ? undefined : own;
  return entries.flatMap((older, index) => (isReplaced(older) && older !== kept ? [index] : []));
}

function documentText(document: ReturnType<typeof parseDocument>): string {
  return document.toString({
    lineWidth: 0,
    flowCollectionPadding: false,
    doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
  });
}
