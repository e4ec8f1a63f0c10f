/**
 * What a key of the configuration reaches beyond the project: `none`: nothing. `setting`: nothing
 * by itself, but it decides what happens there (a driver, a database, a user). `address`: a host.
 * `path`: a file or folder, which may lie outside. `program`: a command or its argument. `secret`:
 * a reference whose value is sent. `value`: a literal or such a reference.
 */
export type KeyReach =
  | 'none'
  | 'setting'
  | 'address'
  | 'path'
  | 'program'
  | 'secret'
  | 'value'
  | 'variable';

/**
 * Every key of `ktx.yaml`. A test compares the list with the schema: a key that is not here escapes
 * nothing, it counts.
 */
export const configReach: Readonly<Record<string, KeyReach>> = {
  'authority.datasets[]': 'none',
  'authority.default[]': 'none',
  'authority.fields[]': 'none',
  'authority.joins[]': 'none',
  'authority.metrics[]': 'none',
  'authority.rules[]': 'none',
  'authority.terms[]': 'none',
  'connections.*.driver': 'setting',
  // Part of the login.
  'connections.*.email': 'setting',
  'connections.*.url': 'address',
  'connections.*.host': 'address',
  'connections.*.port': 'setting',
  'connections.*.database': 'setting',
  'connections.*.user': 'setting',
  'connections.*.password': 'secret',
  'connections.*.ssl': 'setting',
  'connections.*.ca': 'path',
  'connections.*.path': 'path',
  'connections.*.schemas[]': 'none',
  // The database runs these functions, and ktx cannot check what they do.
  'connections.*.allow_functions[]': 'setting',
  'connections.*.base_url': 'address',
  'connections.*.api_key': 'secret',
  'connections.*.allow_private': 'setting',
  'connections.*.client_id': 'secret',
  'connections.*.client_secret': 'secret',
  'connections.*.lookml': 'none',
  'connections.*.usage': 'none',
  'connections.*.databases': 'none',
  'connections.*.databases.*': 'none',
  'connections.*.full_every': 'none',
  'connections.*.git': 'address',
  'connections.*.branch': 'none',
  // Who switches it on lets ktx read what others ran.
  'connections.*.history.enabled': 'setting',
  'connections.*.history.exclude_statements[]': 'setting',
  'connections.*.history.exclude_users[]': 'setting',
  'connections.*.history.min_runs': 'setting',
  'connections.*.artifacts': 'path',
  'connections.*.concurrency': 'none',
  'connections.*.constants.*': 'none',
  'connections.*.include[]': 'none',
  'connections.*.labels[]': 'none',
  'connections.*.max_items': 'none',
  'connections.*.max_memory_mb': 'none',
  'connections.*.max_read_mb': 'none',
  'connections.*.pages[]': 'none',
  'connections.*.restricted': 'setting',
  'connections.*.roots[]': 'none',
  'connections.*.spaces[]': 'none',
  'connections.*.target_schema': 'none',
  'connections.*.token': 'secret',
  'connections.*.vars.*': 'none',
  'connections.*.warehouse': 'none',
  git: 'none',
  'ingest.embeddings.api_key': 'secret',
  'ingest.embeddings.base_url': 'address',
  'ingest.embeddings.dimensions': 'none',
  // The region becomes part of a host name.
  'ingest.embeddings.location': 'setting',
  'ingest.embeddings.model': 'none',
  'ingest.embeddings.project': 'setting',
  'ingest.embeddings.provider': 'setting',
  'ingest.embeddings.region': 'setting',
  'ingest.max_wait': 'none',
  'ingest.steps_per_unit': 'none',
  'llm.provider.backend': 'setting',
  'llm.provider.auth': 'setting',
  'llm.provider.allow_managed_settings': 'setting',
  'llm.provider.program': 'program',
  'llm.provider.anthropic.api_key': 'secret',
  'llm.provider.anthropic.base_url': 'address',
  'llm.provider.bedrock.base_url': 'address',
  'llm.provider.bedrock.region': 'setting',
  'llm.provider.gateway.api_key': 'secret',
  'llm.provider.gateway.base_url': 'address',
  'llm.provider.openai.api_key': 'secret',
  'llm.provider.openai.base_url': 'address',
  'llm.provider.vertex.base_url': 'address',
  // The region becomes part of a host name.
  'llm.provider.vertex.location': 'setting',
  'llm.provider.vertex.project': 'setting',
  'llm.concurrency': 'none',
  'llm.max_usd_per_run': 'none',
  'llm.max_wait': 'none',
  'llm.models.candidateExtraction': 'none',
  'llm.models.curator': 'none',
  'llm.models.default': 'none',
  'llm.models.reconcile': 'none',
  'llm.models.repair': 'none',
  'llm.models.triage': 'none',
  'llm.prices.*.cache_read': 'none',
  'llm.prices.*.cache_write': 'none',
  'llm.prices.*.input': 'none',
  'llm.prices.*.output': 'none',
  'llm.retries.attempts': 'none',
  'llm.retries.first_pause_seconds': 'none',
  'llm.promptCaching.cacheHistory': 'none',
  'llm.promptCaching.cacheSystem': 'none',
  'llm.promptCaching.cacheTools': 'none',
  'llm.promptCaching.enabled': 'none',
  'llm.promptCaching.historyTtl': 'none',
  'llm.promptCaching.systemTtl': 'none',
  'llm.promptCaching.toolsTtl': 'none',
  'llm.promptCaching.vertexFallbackTo5m': 'none',
  // What keeps values here belongs to what was approved: a pull must not take it away.
  'llm.send_rows': 'setting',
  'llm.timeouts.call_seconds': 'none',
  'llm.timeouts.idle_seconds': 'none',
  'query.max_rows': 'none',
  'query.role': 'none',
  'query.run_sql': 'none',
  'query.timeout_seconds': 'none',
  'scan.accept': 'none',
  'scan.max_age': 'none',
  'scan.max_bytes': 'none',
  'scan.max_seconds': 'none',
  'scan.no_values[]': 'setting',
  'scan.not_personal[]': 'setting',
  'scan.query_logs[]': 'path',
  'scan.review': 'none',
  'scan.sample_rows': 'none',
  'scan.send_samples': 'setting',
  'scan.table_bytes': 'none',
  'scan.table_seconds': 'none',
  'scan.views': 'none',
  'serve.audit.arguments': 'none',
  'telemetry.content': 'setting',
  'telemetry.endpoint': 'address',
  'telemetry.exporter': 'setting',
  'telemetry.headers.*': 'value',
  'telemetry.redaction_patterns[]': 'setting',
  'telemetry.sample_rate': 'none',
};

/** Every key of `agents/<name>.yaml`. */
export const agentReach: Readonly<Record<string, KeyReach>> = {
  'context.connections[]': 'none',
  'context.semantic_layer': 'none',
  instructions: 'none',
  // Files of an agent are read only from the project.
  'instructions.file': 'none',
  'limits.max_budget_usd': 'none',
  'limits.max_queries': 'none',
  'limits.max_rows': 'none',
  'limits.max_turns': 'none',
  'limits.timeout': 'none',
  'mcp_servers.*.args[]': 'program',
  'mcp_servers.*.command': 'program',
  'mcp_servers.*.env.*': 'variable',
  'mcp_servers.*.headers.*': 'value',
  'mcp_servers.*.required': 'none',
  'mcp_servers.*.tools[]': 'setting',
  'mcp_servers.*.transport': 'setting',
  'mcp_servers.*.url': 'address',
  'model.auth': 'setting',
  'model.backend': 'setting',
  'model.effort': 'none',
  'model.fallback': 'none',
  'model.inherit': 'none',
  'model.name': 'none',
  name: 'none',
  'permissions.mode': 'setting',
  'response_format.file': 'none',
  'response_format.schema.*': 'none',
  'tools.allow[]': 'none',
  'tools.deny[]': 'none',
  version: 'none',
};

/** What the keys of one entry reach. A key that is missing in the list counts as written. */
export function reachOf(table: Readonly<Record<string, KeyReach>>, path: string): KeyReach {
  const forms = [path, `${path}[]`, `${path}.*`];
  const known = forms.find((form) => Object.hasOwn(table, form));
  return (known === undefined ? undefined : table[known]) ?? 'setting';
}
