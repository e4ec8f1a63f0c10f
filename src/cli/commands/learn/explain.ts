import { CORE_SCHEMA, dump } from 'js-yaml';
import type { Explanation } from '../../../context/compile/explain.ts';
import { defineCommand } from '../../command.ts';
import type { Screen } from '../../terminal/output.ts';
import { printable } from '../../terminal/text-width.ts';

export const explain = defineCommand({
  description:
    'The chain from what a file says back to what justifies it: values and whose they are, claims, evidence, measurements.',
  examples: [
    ['ktx explain orders', 'a dataset'],
    ['ktx explain "orders(customer_id)"', 'a join: why it was accepted'],
    ['ktx explain orders.status --measure', 'a field, measured anew'],
    ['ktx explain term:revenue', 'a term of the wiki: which line of which document says so'],
    ['ktx explain q_mfq3k2lz0a1b2c3d', 'the numbers of an answer, by its query id'],
    ['ktx explain "One row per order"', 'a sentence of the wiki or of a description'],
  ],
  define: (command) =>
    command
      .argument(
        '<subject>',
        'dataset, dataset.field, dataset.metric, "dataset(columns)", a subject as ktx search prints it, a query id, or a sentence',
      )
      .option('--connection <name>', 'which warehouse, where there are several')
      .option('--measure', 'scan too: exact measurements, and what was not accepted'),
  async run({ args: [subject], options }, context) {
    const project = await context.project();
    const { explainAnything } = await import('../../../project/answer/explain.ts');
    const asked = { subject, connection: options.connection, measure: options.measure === true };
    const explanations = await explainAnything(project, asked, {
      signal: context.signal,
      onProgress: ({ phase, done, total }) =>
        context.progress.update(`measuring: ${phase}`, { done, total }),
    });
    const isRounded =
      !asked.measure &&
      explanations.some(({ claims }) => claims.some(({ evidence }) => evidence.some(isInferred)));
    return {
      data: { explanations },
      verbatim: true,
      text: explanations.map((each) => describe(each, context.screen)).join('\n\n'),
      next: [
        ...(explanations.some(({ contested }) => contested.length > 0)
          ? ['ktx review  decide what sources say differently']
          : []),
        ...(isRounded
          ? [
              `ktx explain ${JSON.stringify(subject)} --measure  the exact numbers, and what was weighed against it`,
            ]
          : []),
      ],
    };
  },
});

interface Explained extends Explanation {
  readonly contested: readonly {
    readonly kind: string;
    readonly variants: readonly { readonly id: string }[];
  }[];
  readonly stale: readonly { readonly subject: string; readonly why: string }[];
}

function describe(
  { subject, values, claims, findings, contested, stale }: Explained,
  { style }: Screen,
): string {
  const open = contested.map(({ kind, variants }) => {
    return `  ${style('yellow', 'contested')} ${kind}: ${variants.map(({ id }) => id).join(' or ')}`;
  });
  const changed = stale.map(
    (one) =>
      `  ${style('yellow', 'stale')} ${one.subject === subject ? '' : `${printable(one.subject)}: `}${printable(one.why)}`,
  );
  const written = values.map(
    ({ key, value, by, path, line }) =>
      `  ${key}: ${said(value)}  ${style('dim', `${by}, ${path}:${line}`)}`,
  );
  const claimed = claims.flatMap(({ kind, body, shown, evidence, subject: named }) => [
    `  claim ${kind}${named === subject ? '' : ` of ${printable(named)}`} ${said(body)}${shown ? '' : style('dim', ' (kept, not shown)')}`,
    ...evidence.map(({ origin, extractor, item, location, quote, measured, confidence }) => {
      const found = [
        [item, location].join(' ').trim(),
        quote?.replaceAll(/\s+/g, ' '),
        inWords(measured),
      ].filter((part) => part !== undefined && part !== '');
      return `    ${origin} by ${extractor}, confidence ${confidence}: ${found.map(said).join(', ') || 'as it stands'}`;
    }),
  ]);
  const measured = findings.map((finding) => {
    const { status, origin, probability, evidence } = finding;
    const parent =
      'to' in finding
        ? ` to ${printable(finding.to.table.table)}(${finding.to.columns.map(printable).join(', ')})`
        : '';
    return `  measured${parent}: ${status}, ${origin}, probability ${probability.toFixed(3)}: ${said(evidence)}`;
  });
  return [
    style('bold', printable(subject)),
    ...open,
    ...changed,
    ...written,
    ...claimed,
    ...measured,
  ].join('\n');
}

const isInferred = ({ measured }: { readonly measured?: unknown }): boolean =>
  orphansIn(measured) !== undefined;

function orphansIn(measured: unknown): unknown {
  return measured instanceof Object && 'orphans' in measured ? measured.orphans : undefined;
}

/** What a link was accepted for is said too, not only what speaks against it. */
function inWords(measured: unknown): unknown {
  const orphans = orphansIn(measured);
  if (typeof orphans !== 'string' || !(measured instanceof Object)) return measured;
  const names = 'names' in measured ? [`names ${String(measured.names)}`] : [];
  const values =
    orphans === 'none'
      ? 'every value is found there'
      : `most values are found there, ${orphans} not`;
  return [values, ...names].join(', ');
}

/** A text as it is, anything else as the files write it. */
function said(value: unknown): string {
  return printable(
    typeof value === 'string'
      ? value
      : dump(value, { schema: CORE_SCHEMA, flowLevel: 0, lineWidth: -1, sortKeys: true }).trim(),
  );
}
