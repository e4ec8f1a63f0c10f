/**
 * dbt has no equivalent. The metric is left out, never written as something else. The message
 * completes “left out: …”.
 */
export class NotInDbt extends Error {}
