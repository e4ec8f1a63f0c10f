import type { Pin } from '../../../../context/claims/pins.ts';
import { UserError } from '../../../../lib/error.ts';
import { formatCount } from '../../../../lib/format-count.ts';
import type { Project } from '../../../../project/open/open.ts';
import type { createJoinPin } from '../../../../project/review/joins.ts';
import { defineCommand, type CommandContext, type CommandResult } from '../../../command.ts';
import { escapeControls } from '../../../terminal/text-width.ts';
import { commitFlag } from '../../../flags/commit-flag.ts';
import { visibleFlag } from '../../../flags/visible-flag.ts';
import { describeIngest } from '../ingest-report-text.ts';
import { ingestFailure } from '../run-ingest.ts';
import { openForDecision } from './open-for-decision.ts';
import { proposeReview } from './propose-review.ts';
import { correctionAmongOthers, rejectCorrection } from './reject-correction.ts';

/** For programs that showed the question to a person some time ago. */
const seenOption = [
  '--seen <ids>',
  'ids of all versions that you saw, with commas: refused if the question has others by now',
] as const;

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
      .argument(
        '<version>',
        'id of the version, the beginning of it, or the only source that says it',
      )
      .option('--kind <kind>', 'which conflict, if the subject has several')
      .option('--why <words>', 'reason, stored with the choice')
      .option(...seenOption)
      .option(...visibleFlag)
      .option(...commitFlag),
  async run({ args: [subject, version], options: { visible, commit, ...options } }, context) {
    const project = await openForDecision(context, { named: [subject], visible, commit });
    return choose(project, { subject, choose: version, ...options }, context);
  },
});

const joinArgument = 'join or metric as printed by ktx review list, or its id';

export const acceptCommand = defineCommand({
  description:
    'Accepts a join in doubt, a metric or time that is unreviewed, or a correction that an ' +
    'agent proposed: saves the decision in pins.yaml, updates the files and commits. Several ' +
    'are one commit.',
  examples: [
    ['ktx review accept "warehouse.orders(customer_id)"', 'queries use the join from now on'],
    ['ktx review accept 1f0c22aa 9be41d03', 'two of them, by their ids, as one commit'],
    [
      'ktx review accept "warehouse.orders(customer_id)" --as buyer',
      'queries write orders.buyer; also for a join in use',
    ],
  ],
  define: (command) =>
    command
      .argument('<join...>', joinArgument)
      .option('--as <name>', 'name of the join in queries; refused while others use its name')
      .option('--why <words>', 'reason, stored with it')
      .option(...seenOption)
      .option(...visibleFlag)
      .option(...commitFlag),
  async run({ args: [joins], options: { as: role, visible, commit, ...options } }, context) {
    const project = await openForDecision(context, { named: joins, visible, commit });
    return decideJoins(project, { joins, role, ...options, isAccepted: true }, context);
  },
});

export const rejectCommand = defineCommand({
  description:
    'Rejects a join, in doubt or in use, or a metric or time that is unreviewed: saves the ' +
    'decision in pins.yaml and commits. Several are one commit.',
  examples: [
    [
      'ktx review reject "warehouse.orders(status_id)" --why "a code, no key"',
      'ktx does not propose it again',
    ],
  ],
  define: (command) =>
    command
      .argument('<join...>', joinArgument)
      .option('--why <words>', 'reason, stored with it')
      .option(...seenOption)
      .option(...visibleFlag)
      .option(...commitFlag),
  async run({ args: [joins], options: { visible, commit, ...options } }, context) {
    const project = await openForDecision(context, { named: joins, visible, commit });
    return decideJoins(project, { joins, ...options, isAccepted: false }, context);
  },
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
      .option('--why <words>', 'reason, stored with it')
      .option(...seenOption)
      .option(...visibleFlag)
      .option(...commitFlag),
  async run({ args: [named, text], options: { visible, commit, ...options } }, context) {
    const asked = { named: [named], definition: text, visible, commit };
    const project = await openForDecision(context, asked);
    return writeOwn(project, { named, text, ...options }, context);
  },
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
      .option('--why <words>', 'reason, stored with it')
      .option(...seenOption)
      .option(...visibleFlag)
      .option(...commitFlag),
  async run({ args: [named], options: { visible, commit, ...options } }, context) {
    const project = await openForDecision(context, { named: [named], visible, commit });
    return putOff(project, { named, ...options }, context);
  },
});

interface AnsweredQuestion {
  readonly kind?: string | undefined;
  readonly why?: string | undefined;
  /** Ids, with commas. */
  readonly seen?: string | undefined;
}

interface NamedQuestion extends AnsweredQuestion {
  readonly named: string;
}

export function idsOf(seen: string | undefined): readonly string[] | undefined {
  return seen?.split(',').map((id) => id.trim());
}

/** One after the other: the first that fails is the error. */
export async function inOrder<Item, Result>(
  items: readonly Item[],
  make: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const made: Result[] = [];
  for (const item of items) made.push(await make(item));
  return made;
}

/**
 * Throws if the person would decide about other things than they saw. Returns the same check, for
 * the moment in which nobody else can decide.
 */
async function watch(
  project: Project,
  { named, kind, seen }: Omit<AnsweredQuestion, 'why'> & { readonly named: readonly string[] },
): Promise<MadeDecision['check']> {
  const ids = idsOf(seen);
  if (ids === undefined) return undefined;
  const { requireUnchanged } =
    await import('../../../../project/review/decide/changed-question.ts');
  const about = { named: [...named], ...(kind !== undefined && { kind }), seen: [...ids] };
  const run = () => requireUnchanged(project, about);
  await run();
  return { run, seen: about };
}

export async function writeOwn(
  project: Project,
  { named, kind, why, text, seen }: NamedQuestion & { readonly text: string },
  context: CommandContext,
): Promise<CommandResult> {
  const check = await watch(project, { named: [named], kind, seen });
  const [{ findQuestion }, { createOwnDefinition }, { checkDefinition }] = await Promise.all([
    import('../../../../project/review/decide/find-question.ts'),
    import('../../../../project/review/decide/own-definition.ts'),
    import('../../../../project/review/decide/check-definition.ts'),
  ]);
  const question = await findQuestion(project, { named, kind });
  const pin = await createOwnDefinition(project, { question, text, why });
  await checkDefinition(project, pin);
  return publishPins(project, { pins: [pin], says: 'your definition', check }, context);
}

export async function putOff(
  project: Project,
  { named, kind, why, until, seen }: NamedQuestion & { readonly until?: string | undefined },
  context: CommandContext,
): Promise<CommandResult> {
  const check = await watch(project, { named: [named], kind, seen });
  const [{ findQuestion }, { createDeferral }] = await Promise.all([
    import('../../../../project/review/decide/find-question.ts'),
    import('../../../../project/review/decide/deferred.ts'),
  ]);
  const question = await findQuestion(project, { named, kind });
  const pin = await createDeferral(project, { question, until, why });
  const says = until === undefined ? 'put off' : `put off until ${until}`;
  return publishPins(project, { pins: [pin], says, check }, context);
}

interface JoinsDecision extends Omit<AnsweredQuestion, 'kind'> {
  readonly joins: readonly string[];
  readonly isAccepted: boolean;
  readonly role?: string | undefined;
}

/** Joins, metrics, times and corrections, all or none, as one commit. */
export async function decideJoins(
  project: Project,
  { joins, isAccepted, role, why, seen }: JoinsDecision,
  context: CommandContext,
): Promise<CommandResult> {
  const check = await watch(project, { named: joins, seen });
  const { findCorrection } = await import('../../../../project/review/corrections.ts');
  const [join = '', ...others] = joins;
  const correction = others.length === 0 ? await findCorrection(project, join) : undefined;
  if (correction !== undefined && !isAccepted)
    return rejectCorrection(project, correction, context);
  const pins = await inOrder(joins, (named) =>
    createDecision(project, { join: named, isAccepted, role, why }),
  );
  requireDifferent(pins);
  const [pin] = pins;
  const accepted = correction === undefined ? 'accepted' : `accepted as your ${pin?.kind}`;
  return publishPins(project, { pins, says: isAccepted ? accepted : 'rejected', check }, context);
}

/** Accepted words of an agent hold as if the person had written them. */
async function createDecision(
  project: Project,
  decision: Parameters<typeof createJoinPin>[1],
): Promise<Pin> {
  const { findCorrection, toOwnDefinition } =
    await import('../../../../project/review/corrections.ts');
  const correction = await findCorrection(project, decision.join);
  const isNamed = decision.role !== undefined;
  if (correction !== undefined && !isNamed) {
    if (!decision.isAccepted) throw correctionAmongOthers(decision.join);
    const { createOwnDefinition } =
      await import('../../../../project/review/decide/own-definition.ts');
    const { why } = decision;
    return createOwnDefinition(project, { ...toOwnDefinition(correction), why });
  }
  const { findUnreviewed, createReviewPin } =
    await import('../../../../project/review/unreviewed.ts');
  const metric = await findUnreviewed(project, decision.join);
  if (metric !== undefined && !isNamed) return createReviewPin(project, metric, decision);
  const joins = await import('../../../../project/review/joins.ts');
  const pin = await joins.createJoinPin(project, decision);
  if (decision.role === undefined) return pin;
  const { checkRole } = await import('../../../../project/review/decide/check-role.ts');
  await checkRole(project, pin);
  return pin;
}

/** Two decisions about one thing would take each other's place. */
export function requireDifferent(pins: readonly Pin[], hint = 'name one of its versions'): void {
  const keys = pins.map(({ subject, kind }) => `${subject} ${kind}`);
  const twice = pins.find((_pin, index) => keys.indexOf(keys[index] ?? '') !== index);
  if (twice === undefined) return;
  throw new UserError('decision_twice', `${twice.subject} is named twice.`, {
    hint,
    exitCode: 2,
  });
}

type ChosenVersion = Parameters<typeof import('../../../../project/review/review.ts').createPin>[1];

export async function choose(
  project: Project,
  { seen, ...choice }: ChosenVersion & Pick<AnsweredQuestion, 'seen'>,
  context: CommandContext,
): Promise<CommandResult> {
  const check = await watch(project, { named: [choice.subject], kind: choice.kind, seen });
  const { createPin } = await import('../../../../project/review/review.ts');
  const pin = await createPin(project, choice);
  const { formatValue } = await import('../../../terminal/value-text.ts');
  const definition = formatValue(pin.said ?? pin.says);
  const says = `chose ${pin.choose}: ${escapeControls(definition)}`;
  return publishPins(project, { pins: [pin], says, check }, context);
}

interface SeenCheck {
  /** Throws if the person would decide about other things than they saw. */
  readonly run: () => Promise<void>;
  /** The same as data; undefined for what is taken back, whose decision says it. */
  readonly seen?: { readonly named: string[]; readonly kind?: string; readonly seen: string[] };
}

interface MadeDecision {
  readonly pins: readonly Pin[];
  /** In words, for the person. */
  readonly says: string;
  /** The same, once the files are up to date. */
  readonly describe?: (pin: Pin) => Promise<string>;
  readonly check?: SeenCheck | undefined;
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
  return publishPins(project, { pins: [pin], says: `your ${question.kind}` }, context);
}

/** Writes the decisions, brings the files up to date and makes one commit. */
export async function publishPins(
  project: Project,
  { pins, says, check, describe = () => Promise.resolve(says) }: MadeDecision,
  context: CommandContext,
): Promise<CommandResult> {
  const { signal, screen } = context;
  if (project.proposes === true) {
    const kind = 'review' as const;
    const proposal = { kind, pins: [...pins], says, seen: check?.seen };
    const lines = pins.map(({ subject }) => `${subject}: ${says}`).join('\n');
    return proposeReview(project, { proposal, says: lines }, context);
  }
  const { ingestProject } = await import('../../../../project/learn/ingest.ts');
  const report = await ingestProject(project, {
    connections: [],
    pins,
    beforeDecision: check?.run,
    signal,
  });
  const failure = ingestFailure(report);
  // Facts that were left out before, for other reasons, do not make the choice partial.
  const isDone =
    failure === undefined && report.commit.id !== undefined && report.leftAlone.length === 0;
  const leftOut = formatCount(report.quarantined.length, 'fact');
  const notes = report.quarantined.length > 0 ? [`${leftOut} still left out: ktx review list`] : [];
  return {
    data: { ...(pins.length === 1 ? { pin: pins[0] } : { pins }), report },
    text: [
      ...(await inOrder(pins, async (pin) => `${pin.subject}: ${await describe(pin)}`)),
      ...describeIngest(report, screen),
    ].join('\n'),
    notes,
    exitCode: isDone ? 0 : report.exitCode,
    failure,
  };
}
