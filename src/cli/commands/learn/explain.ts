import type { Explanation } from '../../../context/compile/explain.ts';
import type { SubjectOrigin } from '../../../project/graph/find-origins.ts';
import type { SubjectUse } from '../../../project/graph/find-uses.ts';
import type { Project } from '../../../project/open/open.ts';
import { type CommandContext, type CommandResult, defineCommand } from '../../command.ts';
import { visibleFlag } from '../../flags/visible-flag.ts';
import type { Screen } from '../../terminal/screen.ts';
import { escapeControls } from '../../terminal/text-width.ts';
import { formatValue } from '../../terminal/value-text.ts';

export const explainCommand = defineCommand({
  description:
    'Shows what a definition is based on: each value and who wrote it, the claims, their evidence, and measurements.',
  examples: [
    ['ktx explain orders', 'a dataset'],
    ['ktx explain "orders(customer_id)"', 'a join, and why it was accepted'],
    ['ktx explain orders.status --measure', 'a field, measured again'],
    ['ktx explain term:revenue', 'a term of the wiki, with the document and line that define it'],
    ['ktx explain q_mfq3k2lz0a1b2c3d', 'the numbers of an answer, by its query id'],
    ['ktx explain "One row per order"', 'a sentence of the wiki or of a description'],
  ],
  define: (command) =>
    command
      .argument(
        '<subject>',
        'dataset, dataset.field, dataset.metric, "dataset(columns)", a subject as printed by ktx search, a query id, or a sentence',
      )
      .option('--connection <name>', 'the warehouse, if there are several')
      .option('--uses', 'also what depends on it: metrics, joins, saved queries, dashboards')
      .option(
        '--origins',
        'also what it is made of: fields, tables, transformations, and where it stands',
      )
      .option('--measure', 'also scan: exact measurements, and rejected candidates')
      .option(...visibleFlag),
  async run({ args: [subject], options }, context) {
    const project = await context.project();
    if (options.visible === true)
      return explainToCallers(project, { subject, ...options }, context);
    const { explainAnything } = await import('../../../project/answer/explain.ts');
    const measure = options.measure === true;
    const request = { subject, connection: options.connection, measure };
    const found = await explainAnything(project, request, {
      signal: context.signal,
      onProgress: ({ phase, done, total }) =>
        context.progress.update(`measuring: ${phase}`, { done, total }),
    });
    const used = options.uses === true ? await withUses(project, found) : found;
    const explanations = options.origins === true ? await withOrigins(project, used) : used;
    const isContested = explanations.some(({ contested }) => contested.length > 0);
    // The committed evidence has rounded numbers: git stores no exact counts.
    const hasRoundedNumbers =
      !measure &&
      explanations.some(({ claims }) =>
        claims.some(({ evidence }) =>
          evidence.some(({ measured }) => orphansIn(measured) !== undefined),
        ),
      );
    const measureCommand = `ktx explain ${JSON.stringify(subject)} --measure`;
    return {
      data: { explanations },
      verbatim: true,
      text: explanations
        .map((explanation) => describeExplanation(explanation, context.screen))
        .join('\n\n'),
      next: [
        ...(isContested ? [['ktx review', 'resolves conflicts between sources'] as const] : []),
        ...(hasRoundedNumbers
          ? [[measureCommand, 'shows exact numbers and rejected candidates'] as const]
          : []),
      ],
    };
  },
});

/** With what depends on it, and never measured. */
async function explainToCallers(
  project: Project,
  request: { readonly subject: string; readonly connection?: string | undefined },
  { signal, screen }: CommandContext,
): Promise<CommandResult> {
  const { explainVisible } = await import('../../../project/visible/explain-visible.ts');
  const explanations = await explainVisible(project, request, signal);
  const text = explanations.map((own) => describeExplanation(own, screen)).join('\n\n');
  return { data: { explanations }, verbatim: true, text };
}

interface ReviewedExplanation extends Explanation {
  readonly contested: readonly {
    readonly kind: string;
    readonly variants: readonly { readonly id: string }[];
  }[];
  readonly stale: readonly { readonly subject: string; readonly why: string }[];
  /** Of items that have one, in the tool that they come from. */
  readonly addresses: readonly { readonly item: string; readonly address: string }[];
  readonly uses?: readonly SubjectUse[];
  readonly origins?: readonly SubjectOrigin[];
}

async function withUses(
  project: Project,
  explanations: readonly ReviewedExplanation[],
): Promise<readonly ReviewedExplanation[]> {
  const { findUses } = await import('../../../project/graph/find-uses.ts');
  return Promise.all(
    explanations.map(async (explanation) => ({
      ...explanation,
      uses: await findUses(project, explanation.subject),
    })),
  );
}

async function withOrigins(
  project: Project,
  explanations: readonly ReviewedExplanation[],
): Promise<readonly ReviewedExplanation[]> {
  const { findOrigins } = await import('../../../project/graph/find-origins.ts');
  return Promise.all(
    explanations.map(async (explanation) => ({
      ...explanation,
      origins: await findOrigins(project, explanation),
    })),
  );
}

function describeExplanation(explanation: ReviewedExplanation, screen: Screen): string {
  const { subject, claims, findings, addresses, uses = [] } = explanation;
  return [
    screen.style('bold', escapeControls(subject)),
    ...markLines(explanation, screen),
    ...valueLines(explanation, screen),
    ...claims.flatMap((claim) => claimLines(claim, subject, screen)),
    ...addresses.map(
      ({ item, address }) => `  ${escapeControls(item)} is ${escapeControls(address)}`,
    ),
    ...findings.map(measurementLine),
    ...originLines(explanation.origins ?? []),
    ...useLines(uses),
  ].join('\n');
}

function useLines(uses: readonly SubjectUse[], indent = '  '): readonly string[] {
  return uses.flatMap(({ kind, name, file, uses: inner = [] }) => [
    `${indent}used by ${kind} ${escapeControls(name)} (${escapeControls(file)})`,
    ...useLines(inner, `${indent}  `),
  ]);
}

function originLines(origins: readonly SubjectOrigin[], indent = '  '): readonly string[] {
  return origins.flatMap(({ kind, name, file, from }) => [
    `${indent}from ${kind} ${escapeControls(name)}${file === undefined ? '' : ` (${escapeControls(file)})`}`,
    ...originLines(from, `${indent}  `),
  ]);
}

function markLines(
  { subject, contested, stale }: ReviewedExplanation,
  { style }: Screen,
): readonly string[] {
  return [
    ...contested.map(({ kind, variants }) => {
      const ids = variants.map(({ id }) => id).join(' or ');
      return `  ${style('yellow', 'contested')} ${kind}: ${ids}`;
    }),
    ...stale.map(({ subject: staleSubject, why }) => {
      const prefix = staleSubject === subject ? '' : `${escapeControls(staleSubject)}: `;
      return `  ${style('yellow', 'stale')} ${prefix}${escapeControls(why)}`;
    }),
  ];
}

function valueLines({ values }: ReviewedExplanation, { style }: Screen): readonly string[] {
  return values.map(
    ({ key, value, by, path, line }) =>
      `  ${key}: ${valueText(value)}  ${style('dim', `(${by}, ${path}:${line})`)}`,
  );
}

function claimLines(
  { kind, body, shown, evidence, subject: claimSubject }: Explanation['claims'][number],
  subject: string,
  { style }: Screen,
): readonly string[] {
  const about = claimSubject === subject ? '' : ` of ${escapeControls(claimSubject)}`;
  const mark = shown ? '' : style('dim', ' (kept, not shown)');
  const evidenceLines = evidence.map((item) => {
    const details = [
      [item.item, item.location].join(' ').trim(),
      item.quote?.replaceAll(/\s+/g, ' '),
      item.owner && `owner ${item.owner}`,
      item.dated && `of ${item.dated}`,
      item.expires && `holds until ${item.expires}`,
      measurementText(item.measured),
    ].filter((part) => part !== undefined && part !== '');
    const text = details.map(valueText).join(', ') || 'no details';
    return `    from ${item.origin} (${item.extractor}), confidence ${item.confidence}: ${text}`;
  });
  return [`  claim ${kind}${about} ${valueText(body)}${mark}`, ...evidenceLines];
}

function measurementLine(finding: Explanation['findings'][number]): string {
  const { status, origin, probability, evidence } = finding;
  const parent =
    'to' in finding
      ? ` to ${escapeControls(finding.to.table.table)}(${finding.to.columns.map(escapeControls).join(', ')})`
      : '';
  return `  measured${parent}: ${status}, ${origin}, probability ${probability.toFixed(3)}: ${valueText(evidence)}`;
}

function orphansIn(measured: unknown): unknown {
  return measured instanceof Object && 'orphans' in measured ? measured.orphans : undefined;
}

/**
 * The evidence for a join in words: how many values match, and what the names say. Anything else as
 * it is.
 */
function measurementText(measured: unknown): unknown {
  const orphans = orphansIn(measured);
  if (typeof orphans !== 'string' || !(measured instanceof Object)) return measured;
  const names = 'names' in measured ? [`names ${String(measured.names)}`] : [];
  const values = orphans === 'none' ? 'all values match' : `most values match, ${orphans} do not`;
  return [values, ...names].join(', ');
}

function valueText(value: unknown): string {
  return escapeControls(formatValue(value));
}
