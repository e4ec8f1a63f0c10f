import type { KtxModelRole } from './runtime.ts';

/** How hard a model works for a role, on every backend that takes the setting. */
interface RoleSettings {
  readonly thinking: boolean;
  readonly effort: Effort;
}

export type Effort = 'low' | 'medium' | 'high';

export const roleSettings: Readonly<Record<KtxModelRole, RoleSettings>> = {
  default: { thinking: true, effort: 'medium' },
  triage: { thinking: false, effort: 'low' },
  candidateExtraction: { thinking: false, effort: 'medium' },
  curator: { thinking: true, effort: 'medium' },
  reconcile: { thinking: true, effort: 'high' },
  repair: { thinking: false, effort: 'low' },
};
