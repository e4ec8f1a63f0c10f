import { formatCount } from '../../../../lib/format-count.ts';
import type { Project } from '../../../../project/open/open.ts';
import type { ProposedCorrection } from '../../../../project/review/corrections.ts';
import type { createJoinPin } from '../../../../project/review/joins.ts';
import { defineCommand, type CommandContext, type CommandResult } from '../../../command.ts';
import { describeIngest } from '../ingest-report-text.ts';
import { ingestFailure } from '../run-ingest.ts';

export const chooseCommand = defineCommand({
  description:
    'Resolves one conflict: saves your choice in pins.yaml, updates the files and commits.',
  examples: [
    [
      'ktx review choose metric:warehouse.orders.revenue ade0f976 --why "finance uses this one"',
      'the choice stands until a new definition appears',
    ],
  ],
  define: (command) =>
    command
      .argument('<subject>', 'subject as printed by ktx review list')
      .argument('<version>', 'id of the version, or the beginning of it')
      .option('--kind <kind>', 'which conflict, if the subject has several')
      .option('--why <words>', 'reason, stored with the choice'),
  async run({ args: [subject, version], options: { kind, why } }, context) {
    return choose(await context.project(), { subject, kind, choose: version, why }, context);
  },
});

const joinArgument = 'join or metric as printed by ktx review list, or its id';

export const acceptCommand = defineCommand({
  description:
    'Accepts a join in doubt, a metric or time that is unreviewed, or a correction that an agent proposed: saves the decision in pins.yaml, updates the files and commits.',
  examples: [
    ['ktx review accept "warehouse.orders(customer_id)"', 'queries use the join from now on'],
  ],
  define: (command) =>
    command.argument('<join>', joinArgument).option('--why <words>', 'reason, stored with it'),
  run: async ({ args: [join], options: { why } }, context) =>
    decideJoin(await context.project(), { join, why, isAccepted: true }, context),
});

export const rejectCommand = defineCommand({
  description:
    'Rejects a join, in doubt or in use, or a metric or time that is unreviewed: saves the decision in pins.yaml and commits.',
  examples: [
    [
      'ktx review reject "warehouse.orders(status_id)" --why "a code, no key"',
      'ktx does not propose it again',
    ],
  ],
  define: (command) =>
    command.argument('<join>', joinArgument).option('--why <words>', 'reason, stored with it'),
  run: async ({ args: [join], options: { why } }, context) =>
    decideJoin(await context.project(), { join, why, isAccepted: false }, context),
});

const questionArgument = 'subject as printed by ktx review list, or an id';
const kindOption = ['--kind <kind>', 'which question, if the subject has several'] as const;

export const editCommand = defineCommand({
  description:
    'Resolves a conflict, or replaces an unreviewed metric or time, by a definition of your own: words for a term or a rule, a formula or YAML as in the dataset file for ' +
    'a metric. A definition that fails the check is refused. It is saved in pins.yaml, and stands until a new definition appears.',
  examples: [
    ['ktx review edit term:net-revenue "Revenue after refunds and tax."', 'words of your own'],
    [
      'ktx review edit metric:warehouse.orders.revenue "sum(amount - tax)"',
      'a formula of your own',
    ],
  ],
  define: (command) =>
    command
      .argument('<subject>', questionArgument)
      .argument('<definition>', 'words, a formula, or YAML')
      .option(...kindOption)
      .option('--why <words>', 'reason, stored with it'),
  run: async ({ args: [named, text], options: { kind, why } }, context) =>
    writeOwn(await context.project(), { named, kind, text, why }, context),
});

export const deferCommand = defineCommand({
  description:
    'Puts a decision off: ktx review and ktx check pass over it until a new definition appears, or until the day that you name. What ' +
    'answers show stays as it is, with its mark. Saved in pins.yaml, so it holds for the team.',
  examples: [
    [
      'ktx review defer metric:warehouse.orders.revenue --until 2027-01-31 --why "finance decides in January"',
      'it comes back on that day',
    ],
  ],
  define: (command) =>
    command
      .argument('<subject>', questionArgument)
      .option(...kindOption)
      .option('--until <day>', 'day on which it comes back, like 2027-01-31')
      .option('--why <words>', 'reason, stored with it'),
  run: async ({ args: [named], options: { kind, until, why } }, context) =>
    putOff(await context.project(), { named, kind, until, why }, context),
});

export const undoCommand = defineCommand({
  description:
    'Takes the newest decision about a subject back: removes it from pins.yaml, updates the files and commits. The question is open ' +
    'again, and is listed as before.',
  examples: [['ktx review undo metric:warehouse.orders.revenue', 'the conflict is open again']],
  define: (command) =>
    command
      .argument('<subject>', 'subject as it stands in pins.yaml')
      .option('--kind <kind>', 'which decision, if the subject has several'),
  async run({ args: [named], options: { kind } }, context) {
    const project = await context.project();
    const { createUndo } = await import('../../../../project/review/decide/undo.ts');
    const pin = await createUndo(project, { named, kind });
    return publishPin(project, { pin, says: 'open again' }, context);
  },
});

interface NamedQuestion {
  readonly named: string;
  readonly kind?: string | undefined;
  readonly why?: string | undefined;
}

export async function writeOwn(
  project: Project,
  { named, kind, why, text }: NamedQuestion & { readonly text: string },
  context: CommandContext,
): Promise<CommandResult> {
  const [{ findQuestion }, { createOwnDefinition }, { checkDefinition }] = await Promise.all([
    import('../../../../project/review/decide/find-question.ts'),
    import('../../../../project/review/decide/own-definition.ts'),
    import('../../../../project/review/decide/check-definition.ts'),
  ]);
  const question = await findQuestion(project, { named, kind });
  const pin = await createOwnDefinition(project, { question, text, why });
  await checkDefinition(project, pin);
  return publishPin(project, { pin, says: 'your definition' }, context);
}

export async function putOff(
  project: Project,
  { named, kind, why, until }: NamedQuestion & { readonly until?: string | undefined },
  context: CommandContext,
): Promise<CommandResult> {
  const [{ findQuestion }, { createDeferral }] = await Promise.all([
    import('../../../../project/review/decide/find-question.ts'),
    import('../../../../project/review/decide/deferred.ts'),
  ]);
  const question = await findQuestion(project, { named, kind });
  const pin = await createDeferral(project, { question, until, why });
  const says = until === undefined ? 'put off' : `put off until ${until}`;
  return publishPin(project, { pin, says }, context);
}

export async function decideJoin(
  project: Project,
  decision: Parameters<typeof createJoinPin>[1],
  context: CommandContext,
): Promise<CommandResult> {
  const { findCorrection } = await import('../../../../project/review/corrections.ts');
  const correction = await findCorrection(project, decision.join);
  if (correction !== undefined)
    return decideCorrection(project, { ...decision, correction }, context);
  const { findUnreviewed, createReviewPin } =
    await import('../../../../project/review/unreviewed.ts');
  const metric = await findUnreviewed(project, decision.join);
  const joins = await import('../../../../project/review/joins.ts');
  const pin =
    metric === undefined
      ? await joins.createJoinPin(project, decision)
      : await createReviewPin(project, metric, decision);
  return publishPin(project, { pin, says: decision.isAccepted ? 'accepted' : 'rejected' }, context);
}

interface CorrectionDecision {
  readonly correction: ProposedCorrection;
  readonly isAccepted: boolean;
  readonly why?: string | undefined;
}

/** Accepted words of an agent hold as if the person had written them; rejected ones are removed. */
async function decideCorrection(
  project: Project,
  { correction, isAccepted, why }: CorrectionDecision,
  context: CommandContext,
): Promise<CommandResult> {
  if (isAccepted) {
    const [{ toOwnDefinition }, { createOwnDefinition }] = await Promise.all([
      import('../../../../project/review/corrections.ts'),
      import('../../../../project/review/decide/own-definition.ts'),
    ]);
    const pin = await createOwnDefinition(project, { ...toOwnDefinition(correction), why });
    return publishPin(project, { pin, says: `accepted as your ${pin.kind}` }, context);
  }
  const { forgetNote } = await import('../../../../project/learn/notes.ts');
  const note = await forgetNote(project, correction.note, context.signal);
  return { data: { note }, text: `${correction.subject}: rejected; note ${note.id} is gone` };
}

type ChosenVersion = Parameters<typeof import('../../../../project/review/review.ts').createPin>[1];

export async function choose(
  project: Project,
  choice: ChosenVersion,
  context: CommandContext,
): Promise<CommandResult> {
  const { createPin } = await import('../../../../project/review/review.ts');
  const pin = await createPin(project, choice);
  return publishPin(project, { pin, says: `chose ${pin.choose}` }, context);
}

interface MadeDecision {
  readonly pin: Awaited<ReturnType<typeof createJoinPin>>;
  /** In words, for the person. */
  readonly says: string;
}

/** Words of a person in place of what sources say about a subject. */
export async function correctInWords(
  project: Project,
  { named, text }: { readonly named: string; readonly text: string },
  context: CommandContext,
): Promise<CommandResult> {
  const [{ findCorrected }, { createOwnDefinition }] = await Promise.all([
    import('../../../../project/review/decide/find-corrected.ts'),
    import('../../../../project/review/decide/own-definition.ts'),
  ]);
  const question = await findCorrected(project, named, context.signal);
  const pin = await createOwnDefinition(project, { question, text });
  return publishPin(project, { pin, says: `your ${question.kind}` }, context);
}

/** Writes the decision, brings the files up to date and commits. */
async function publishPin(
  project: Project,
  { pin, says }: MadeDecision,
  { signal, screen }: CommandContext,
): Promise<CommandResult> {
  const { ingestProject } = await import('../../../../project/learn/ingest.ts');
  const report = await ingestProject(project, { connections: [], pin, signal });
  const failure = ingestFailure(report);
  // Facts that were left out before, for other reasons, do not make the choice partial.
  const isDone =
    failure === undefined && report.commit.id !== undefined && report.leftAlone.length === 0;
  const leftOut = formatCount(report.quarantined.length, 'fact');
  const notes = report.quarantined.length > 0 ? [`${leftOut} still left out: ktx review list`] : [];
  return {
    data: { pin, report },
    text: [`${pin.subject}: ${says}`, ...describeIngest(report, screen)].join('\n'),
    notes,
    exitCode: isDone ? 0 : report.exitCode,
    failure,
  };
}
