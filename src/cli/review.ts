import { CORE_SCHEMA, dump } from 'js-yaml';
import type { Project } from '../project/open.ts';
import type { ReviewedConflict } from '../project/review.ts';
import { defineCommand, type CommandContext, type Outcome } from './command.ts';
import { describeIngest, ingestFailure } from './ingest.ts';
import type { Screen } from './output.ts';
import { answer } from './prompt.ts';
import { printable } from './text-width.ts';

export const review = defineCommand({
  description:
    'Walks through what sources say differently: each version with who says it and, for metrics, what it gives; what you choose ' +
    'goes into pins.yaml and is committed. Without a terminal it lists.',
  examples: [
    ['ktx review', 'decide one after the other'],
    ['ktx review --json', 'what is contested, for a program'],
  ],
  define: (command) => command,
  async run(_input, context) {
    const project = await context.project();
    const { reviewed } = await import('../project/review.ts');
    const conflicts = await reviewed(project);
    if (!context.screen.interactive || context.screen.format === 'json' || conflicts.length === 0) return listed(conflicts, context.screen);
    return walk(project, conflicts, context);
  },
});

export const list = defineCommand({
  description: 'What is contested: subject, versions with their ids, who says so, and the numbers of contested metrics.',
  examples: [['ktx review list --json', 'for a program']],
  define: (command) => command,
  async run(_input, context) {
    const { reviewed } = await import('../project/review.ts');
    return listed(await reviewed(await context.project()), context.screen);
  },
});

export const choose = defineCommand({
  description: 'Decides one conflict: writes the pin, brings the files up to date, commits.',
  examples: [['ktx review choose metric:warehouse.orders.revenue ade0f976 --why "as finance has it"', 'that version holds until something new is said']], // prettier-ignore
  define: (command) =>
    command
      .argument('<subject>', 'as ktx review list prints it')
      .argument('<version>', 'id of the version, or its beginning')
      .option('--kind <kind>', 'what about it, where several things are contested')
      .option('--why <words>', 'kept with the decision'),
  async run({ args: [subject, version], options: { kind, why } }, context) {
    return decide(await context.project(), { subject, kind, choose: version, why }, context);
  },
});

interface Choice {
  readonly subject: string;
  readonly kind?: string | undefined;
  readonly choose: string;
  readonly why?: string | undefined;
}

async function decide(project: Project, choice: Choice, { signal, screen }: CommandContext): Promise<Outcome> {
  const [{ pinOf }, { ingestProject }] = await Promise.all([import('../project/review.ts'), import('../project/ingest.ts')]);
  const pin = await pinOf(project, choice);
  const report = await ingestProject(project, { connections: [], pin, signal });
  const text = [`${pin.subject}: ${pin.choose} holds`, ...describeIngest(report, screen)].join('\n');
  return { data: { pin, report }, text, exitCode: report.exitCode, failure: ingestFailure(report) };
}

async function walk(project: Project, conflicts: readonly ReviewedConflict[], context: CommandContext): Promise<Outcome> {
  const decided: Outcome[] = [];
  for (const conflict of conflicts) {
    const later = { value: '', label: 'decide later' };
    const options = conflict.variants.map(({ id, says, number, evidence }) => {
      return { value: id, label: printable(`${said(says)}${numberText(number)}`), hint: printable(evidence.join('; ')) };
    });
    const difference = conflict.difference === undefined ? '' : ` (${conflict.difference})`;
    const message = printable(`${conflict.subject} ${conflict.kind}${difference}: which holds?`);
    const chosen = await answer(context, ({ select }) => select({ message, options: [...options, later], signal: context.signal }));
    if (chosen !== '') decided.push(await decide(project, { ...conflict, choose: chosen }, context));
  }
  const text = [...decided.map((one) => one.text), `${decided.length} of ${conflicts.length} decided`].join('\n');
  const failure = decided.find((one) => one.failure !== undefined)?.failure;
  return { data: { decided: decided.map(({ data }) => data) }, text, failure };
}

function listed(conflicts: readonly ReviewedConflict[], { style }: Screen): Outcome {
  const lines = conflicts.flatMap(({ subject, kind, variants, difference }) => [
    style('bold', printable(`${subject} ${kind}`)),
    ...(difference === undefined ? [] : [`  ${printable(difference)}`]),
    ...variants.flatMap(({ id, says, evidence, number }, index) => [
      `  ${id}  ${printable(said(says))}${numberText(number)}${index === 0 ? style('dim', '  (shown)') : ''}`,
      ...evidence.map((one) => style('dim', `      ${printable(one)}`)),
    ]),
  ]);
  const [first] = conflicts;
  const next = first ? [`ktx review choose ${first.subject} <version>  decide`] : [];
  return { data: { conflicts }, verbatim: true, text: lines.length === 0 ? 'Nothing is contested.' : lines.join('\n'), next };
}

function numberText(number: ReviewedConflict['variants'][number]['number']): string {
  if (number === undefined) return '';
  return number.failure === undefined ? ` = ${said(number.value)}` : ` (does not run: ${number.failure})`;
}

function said(value: unknown): string {
  return typeof value === 'string' ? value : dump(value, { schema: CORE_SCHEMA, flowLevel: 0, lineWidth: -1 }).trim();
}
