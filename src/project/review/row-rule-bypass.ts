import { isSameDatabase } from '../../warehouse/same-database.ts';
import type { Project } from '../open/open.ts';

/** A connection without row rules to a database that another connection protects with row rules: it shows every row. */
export interface RowRuleBypass {
  readonly connection: string;
  /** The connection that has the row rules. */
  readonly ruled: string;
}

/** Compares the settings in `ktx.yaml`; connects to nothing. */
export async function findRowRuleBypasses(project: Project): Promise<readonly RowRuleBypass[]> {
  const models = await Promise.all(
    project.warehouses.map(async (name) => ({ name, ...(await project.model(name)) })),
  );
  const ruled = models.filter(({ model }) => model.hasRules);
  const unruled = models.filter(({ model }) => !model.hasRules);
  const configOf = (name: string) => project.connection(name).config;
  return unruled.flatMap(({ name: connection }) =>
    ruled
      .filter(({ name }) => isSameDatabase(configOf(connection), configOf(name), project.dir))
      .map(({ name }) => ({ connection, ruled: name })),
  );
}
