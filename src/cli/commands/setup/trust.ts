import { UserError } from '../../../lib/error.ts';
import { formatCount } from '../../../lib/format-count.ts';
import { visibleEffect } from '../../../project/trust/trust-required.ts';
import type { TrustReport } from '../../../project/trust/trust.ts';
import { visibleText } from '../../../project/trust/visible-text.ts';
import { defineCommand, type CommandContext, type CommandResult } from '../../command.ts';
import { askForTrust } from '../../terminal/ask-for-trust.ts';
import { trustLines } from '../../terminal/trust-text.ts';

export const trustCommand = defineCommand({
  description:
    'Shows what this project would do on this machine, and asks whether it may: the hosts that it connects to, the programs that it runs, ' +
    'the secrets that it uses, files outside of it, and models that cost money. Until a person approves that, ktx does none of it. What ' +
    'you set up yourself with ktx setup or ktx connection add is approved. Exit code 4 if it is not approved.',
  examples: [
    ['ktx trust', 'shows the list and asks'],
    ['ktx trust --show', 'only shows the list, and its hash for KTX_TRUST in CI'],
    ['ktx trust --yes', 'for scripts that made the project themselves'],
    ['ktx trust --revoke', 'forgets the approval'],
  ],
  define: (command) =>
    command
      .option('--show', 'only show the list; with --json all of it')
      .option('--yes', 'approve without asking')
      .option('--revoke', 'forget what was approved'),
  async run({ options }, context) {
    const project = await context.project({ mayAsk: false });
    const { trust } = project;
    if (options.revoke === true) {
      trust.revoke();
      const text = 'Nothing of this project is approved on this machine any more.';
      return { data: { dir: project.dir, revoked: true }, text };
    }
    const report = await trust.report();
    if (options.show === true || report.isApproved) {
      // Forgets what is not in the project any more, so that it would be asked again.
      if (options.show !== true) await trust.approve(report);
      return showReport(report, context);
    }
    const isApproved =
      options.yes === true || (context.screen.interactive && (await askForTrust(report, context)));
    if (!isApproved) return { ...showReport(report, context), failure: notApproved(context) };
    await trust.approve(report);
    return describeApproval(await trust.report(), options.yes === true, context);
  },
});

function describeApproval(
  report: TrustReport,
  isListed: boolean,
  context: CommandContext,
): CommandResult {
  const count = formatCount(report.grants.length, 'part');
  const text = `approved on this machine: ${count} of ${visibleText(report.dir)}`;
  const shown = showReport(report, context);
  return { data: shown.data, text: isListed ? `${shown.text}\n${text}` : text };
}

function showReport(report: TrustReport, { screen }: CommandContext) {
  const { dir, hash, isApproved, grants, removed } = report;
  // The lines for people are cut; here is all of it.
  const describe = ({ place, effects }: TrustReport['removed'][number]) => ({
    place: visibleText(place, Infinity),
    effects: effects.map((effect) => ({
      kind: effect.kind,
      text: visibleEffect(effect, Infinity),
    })),
  });
  return {
    data: {
      dir,
      hash,
      approved: isApproved,
      grants: grants.map((grant) => ({ ...describe(grant), approved: grant.isApproved })),
      removed: removed.map(describe),
    },
    text: [...trustLines(report, screen), `hash of the list: ${hash}`].join('\n'),
  };
}

function notApproved({ screen }: CommandContext): UserError {
  const hint = screen.interactive
    ? 'ktx trust asks again'
    : 'a person runs ktx trust in a terminal; in CI, set KTX_TRUST to the hash of a list that a person has read';
  return new UserError('trust_required', 'This project is not approved on this machine.', {
    hint,
    exitCode: 4,
  });
}
