import { areShownWhole, describeGrants } from '../../project/trust/trust-required.ts';
import type { TrustReport } from '../../project/trust/trust.ts';
import { visibleText } from '../../project/trust/visible-text.ts';
import type { Screen } from './screen.ts';

const mostShown = 50;

/** True if a person can read everything that is not approved yet. */
export function showsAllNew({ grants }: TrustReport): boolean {
  return areShownWhole(
    grants.filter(({ isApproved }) => !isApproved),
    mostShown,
  );
}

/** What is new since the last approval, what went, and what is approved already. */
export function trustLines(report: TrustReport, { style }: Screen): readonly string[] {
  const { dir, grants, removed } = report;
  const fresh = grants.filter(({ isApproved }) => !isApproved);
  const approved = grants.filter(({ isApproved }) => isApproved);
  const color = (name: 'green' | 'yellow' | 'dim', lines: readonly string[]) =>
    lines.map((line) => style(name, line));
  const nothing = 'This project does nothing that needs an approval.';
  return [
    style('bold', visibleText(dir)),
    ...(grants.length === 0 ? [nothing] : []),
    ...(fresh.length === 0 ? [] : ['not approved on this machine:']),
    ...color('yellow', describeGrants(fresh, mostShown, '+ ')),
    ...(removed.length === 0 ? [] : ['approved before, and not in the project any more:']),
    ...color('dim', describeGrants(removed, mostShown, '- ')),
    ...(approved.length === 0 ? [] : ['approved:']),
    ...describeGrants(approved, mostShown),
  ];
}
