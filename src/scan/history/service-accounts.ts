/** Logins of tools: what they run again and again says nothing about what people want to know. */
const serviceAccounts = (
  'svc_* svc-* *_svc *-svc service_* *service_account* *service-account* *.gserviceaccount.com ' +
  'bot_* *_bot etl etl_* *_etl airbyte* airflow* dagster* datadog* dbt dbt_* dbt-* *_dbt fivetran* ' +
  'hevo* hightouch* looker* matillion* metabase* mode_analytics* monitoring* pgbouncer* portable_io* ' +
  'powerbi* prefect* prometheus* *_exporter rdsadmin rdsproxy* replication replicator repl_* rivery* ' +
  'segment sigma* stitch* superset* tableau* thoughtspot* cloudsqladmin cloudsqlagent azure_* system'
).split(' ');

/** True for the login of a well-known tool, and for names that say that they are no person. */
export function isServiceAccount(user: string): boolean {
  return matchesAny(user, serviceAccounts);
}

/** Whether a name fits one of the patterns, in any case; `*` stands for any text. */
export function matchesAny(name: string, patterns: readonly string[]): boolean {
  const lowerCase = name.toLowerCase();
  return patterns.some((pattern) => matchesPattern(lowerCase, pattern.toLowerCase()));
}

/** In linear time: each part after a star is looked for once. */
function matchesPattern(name: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first)) return false;
  let position = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, position);
    if (found < 0) return false;
    position = found + part.length;
  }
  return name.length - last.length >= position && name.endsWith(last);
}
