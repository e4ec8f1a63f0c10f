import { isSameDatabase } from '../../warehouse/same-database.ts';
import type { Project } from '../open/open.ts';

/** A connection without row rules to a database that another one reads by rules: through it, everyone sees every row. */
export interface RowRuleBypass {
  readonly connection: string;
  /** The connection that has the rules. */
  readonly ruled: string;
}

/** From the files alone. */
export async function findRowRuleBypasses(project: Project): Promise<readonly RowRuleBypass[]> {
  const models = await Promise.all(
    project.warehouses.map(async (name) => ({ name, ...(await project.model(name)) })),
  );
  const ruled = models.filter(({ model }) => model.hasRules);
  const others = models.filter(({ model }) => !model.hasRules);
  const configOf = (name: string) => project.connection(name).config;
  return others.flatMap(({ name: connection }) =>
    ruled
      .filter(({ name }) => isSameDatabase(configOf(connection), configOf(name), project.dir))
      .map(({ name }) => ({ connection, ruled: name })),
  );
}
