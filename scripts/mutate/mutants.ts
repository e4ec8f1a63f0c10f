import { itemLineMutants } from './item-lines.ts';
import { bigqueryMutants } from './bigquery.ts';
import { branchMutants } from './branches.ts';
import { brokerMutants } from './broker.ts';
import { bytesAndNamesakesMutants } from './bytes-and-namesakes.ts';
import { chatMutants } from './chat.ts';
import { changeMutants } from './changes.ts';
import { childrenMutants } from './children.ts';
import { clickhouseMutants } from './clickhouse.ts';
import { conformedMutants } from './conformed.ts';
import { contextMutants } from './context.ts';
import { dataFileMutants } from './data-files.ts';
import { databaseMutants } from './databases.ts';
import { databricksMutants } from './databricks.ts';
import { dbtMutants } from './dbt.ts';
import { describeMutants } from './describe.ts';
import { egressMutants } from './egress.ts';
import { embeddingMutants } from './embeddings.ts';
import { evalMutants } from './eval.ts';
import { extensionMutants } from './extensions.ts';
import { extraMutants } from './extras.ts';
import { fastSqlMutants } from './fast-sql.ts';
import { faultMutants } from './faults.ts';
import { gateMutants } from './gate.ts';
import { hostileServerMutants } from './hostile-servers.ts';
import { llmMutants } from './llm.ts';
import { mcpHttpMutants } from './mcp-http.ts';
import { pageLoginMutants } from './page-login.ts';
import { pageMutants } from './page.ts';
import { identityMutants } from './identity.ts';
import { largeDatabaseMutants } from './large-databases.ts';
import { linkMutants } from './links.ts';
import type { Mutant } from './mutant.ts';
import { mcpMutants } from './mcp.ts';
import { oddPayloadMutants } from './odd-payloads.ts';
import { passwordMutants } from './passwords.ts';
import { preparedMutants } from './prepared.ts';
import { recordedBaseMutants } from './recorded-bases.ts';
import { redshiftMutants } from './redshift.ts';
import { scaleMutants } from './scale.ts';
import { secondStageMutants } from './second-stage.ts';
import { semanticMutants } from './semantic.ts';
import { shardMutants } from './shards.ts';
import { sourceMutants } from './sources.ts';
import { sqlserverMutants } from './sqlserver.ts';
import { statementLimitMutants } from './statement-limits.ts';
import { storeMutants } from './store.ts';
import { taskMutants } from './tasks.ts';
import { teamServerMutants } from './team-server.ts';
import { timeSpineMutants } from './time-spine.ts';
import { trustMutants } from './trust.ts';
import { unchangedMutants } from './unchanged.ts';
import { signInMutants } from './sign-in.ts';
import { snowflakeMutants } from './snowflake.ts';
import { timesInTextMutants } from './times-in-text.ts';
import { trinoMutants } from './trino.ts';

/** Every mutant, in the order of `npm run mutate`. */
export const mutants: readonly Mutant[] = [
  ...clickhouseMutants,
  ...gateMutants,
  ...extensionMutants,
  ...storeMutants,
  ...timeSpineMutants,
  ...mcpHttpMutants,
  ...pageMutants,
  ...trustMutants,
  ...hostileServerMutants,
  ...llmMutants,
  ...faultMutants,
  ...childrenMutants,
  ...egressMutants,
  ...embeddingMutants,
  ...semanticMutants,
  ...extraMutants,
  ...fastSqlMutants,
  ...mcpMutants,
  ...chatMutants,
  ...secondStageMutants,
  ...conformedMutants,
  ...contextMutants,
  ...branchMutants,
  ...dataFileMutants,
  ...dbtMutants,
  ...describeMutants,
  ...evalMutants,
  ...shardMutants,
  ...sourceMutants,
  ...linkMutants,
  ...unchangedMutants,
  ...passwordMutants,
  ...redshiftMutants,
  ...snowflakeMutants,
  ...trinoMutants,
  ...databricksMutants,
  ...bigqueryMutants,
  ...sqlserverMutants,
  ...statementLimitMutants,
  ...identityMutants,
  ...brokerMutants,
  ...itemLineMutants,
  ...changeMutants,
  ...taskMutants,
  ...scaleMutants,
  ...signInMutants,
  ...recordedBaseMutants,
  ...oddPayloadMutants,
  ...pageLoginMutants,
  ...preparedMutants,
  ...teamServerMutants,
  ...bytesAndNamesakesMutants,
  ...databaseMutants,
  ...timesInTextMutants,
  ...largeDatabaseMutants,
];
