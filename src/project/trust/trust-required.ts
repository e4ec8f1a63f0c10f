import { UserError } from '../../lib/error.ts';
import type { Approval } from './approvals.ts';
import type { Effect } from './effect.ts';
import type { Grant } from './grant.ts';
import { isShownWhole, visibleHost, visibleText } from './visible-text.ts';

const mostGrants = 20;

interface TrustFailure {
  readonly dir: string;
  /** The hash of the list. */
  readonly listHash: string;
  /** What the command needs. */
  readonly grants: readonly Grant[];
  /** The hash that was given and does not fit. */
  readonly hash: string | undefined;
  /** A person has just read the list and said no. */
  readonly isDeclined: boolean;
}

/** Nobody has approved on this machine what the project would do now. */
export function trustRequired({
  dir,
  listHash,
  grants,
  hash,
  isDeclined,
}: TrustFailure): UserError {
  const list = [
    'Nobody has approved on this machine what this project would do now:',
    ...describeGrants(grants, mostGrants),
  ];
  const lines = [
    ...(isDeclined ? ['You did not approve what this project would do on this machine.'] : list),
    ...(hash === undefined
      ? []
      : [
          `KTX_TRUST or --trust is ${visibleText(hash)}, but the project has the hash ${listHash} now.`,
          'Read the list with ktx trust --show; if you approve all of it, set the new hash.',
        ]),
  ];
  return new UserError('trust_required', lines.join('\n'), {
    hint: `a person reads the whole list and approves it: ktx trust --project-dir ${quotePath(dir)}`,
    exitCode: 4,
    details: {
      hash: listHash,
      grants: grants.slice(0, mostGrants).map(({ place, effects }) => ({
        place: visibleText(place),
        effects: effects.map(({ kind, text }) => ({ kind, text: visibleEffect({ kind, text }) })),
      })),
      count: grants.length,
    },
  });
}

function quotePath(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : JSON.stringify(visibleText(path));
}

const labels: Readonly<Record<Effect['kind'], string>> = {
  host: 'connects to',
  program: 'runs',
  path: 'reads',
  secret: 'uses',
  money: 'asks',
  setting: 'with',
};

/**
 * Lines for people: each place, and below it what it does. Everything that a project's author wrote
 * is made visible.
 */
export function describeGrants(
  grants: readonly Approval[],
  most: number,
  mark = '',
): readonly string[] {
  const rest = grants.length - most;
  return [
    ...grants
      .slice(0, most)
      .flatMap(({ place, effects }) => [
        `  ${mark}${visibleText(place)}`,
        ...describeEffects(effects).map((line) => `      ${line}`),
      ]),
    ...(rest > 0 ? [`  and ${rest} more: ktx trust --show --json lists all`] : []),
  ];
}

const mostEffects = 30;

/** True if `describeGrants` leaves nothing out. */
export function areShownWhole(grants: readonly Approval[], most: number): boolean {
  return (
    grants.length <= most &&
    grants.every(
      ({ place, effects }) =>
        effects.length <= mostEffects &&
        [place, ...effects.map(({ text }) => text)].every(isShownWhole),
    )
  );
}

function describeEffects(effects: readonly Effect[]): readonly string[] {
  const lines = (['program', 'host', 'path', 'money', 'secret'] as const).flatMap((kind) =>
    effects
      .filter((effect) => effect.kind === kind)
      .map((effect) => `${labels[kind].padEnd(12)}${visibleEffect(effect)}`),
  );
  const settings = effects
    .filter(({ kind }) => kind === 'setting')
    .map((effect) => visibleEffect(effect));
  const all = [
    ...lines,
    ...(settings.length === 0 ? [] : [`${labels.setting.padEnd(12)}${listSettings(settings)}`]),
  ];
  const rest = all.length - mostEffects;
  return rest > 0 ? [...all.slice(0, mostEffects), `and ${rest} more`] : all;
}

/**
 * A list that is cut says so: what it leaves out would be approved unseen. A setting with a comma
 * stands in quotes.
 */
function listSettings(settings: readonly string[]): string {
  const rest = settings.length - mostEffects;
  const shown = settings
    .slice(0, mostEffects)
    .map((setting) => (/[,"]/.test(setting) ? JSON.stringify(setting) : setting))
    .join(', ');
  return rest > 0 ? `${shown} and ${rest} more settings: ktx trust --show --json lists all` : shown;
}

/**
 * The text of an effect with nothing hidden in it, cut where it is longer than a person reads or
 * than `longest`.
 */
export function visibleEffect({ kind, text }: Effect, longest?: number): string {
  return kind === 'host' ? visibleHost(text, longest) : visibleText(text, longest);
}
