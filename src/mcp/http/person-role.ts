import type { ServeConfig } from '../../project/open/serve-config.ts';

/** The role of somebody in these groups; undefined if no rule fits. */
export function roleOfGroups(
  groups: readonly string[],
  { roles, default_role: defaultRole }: Pick<ServeConfig, 'roles' | 'default_role'>,
): string | undefined {
  return roles.find(({ group }) => groups.includes(group))?.role ?? defaultRole;
}
