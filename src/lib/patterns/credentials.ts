/** What looks like a credential, in a text of any length; each is read in linear time. */
const credentials: readonly (readonly [string, RegExp])[] = [
  ['a token', /\b(?:sk|pk|rk|xox[abprs])-[\w-]{16,}/gi],
  // Only with live, test or prod: a column may be named sk_customer_account_number.
  ['a token', /\b(?:sk|pk|rk)_(?:live|test|prod)_\w{10,}/gi],
  ['a token of GitHub', /\b(?:gh[opusr]|github_pat)_\w{16,}/gi],
  ['a token of GitLab', /\bglpat-[\w-]{16,}/g],
  ['a token of Databricks', /\bdapi[0-9a-f]{32}\b/gi],
  ['a token of dbt', /\bdbt[cu]_[\w-]{20,}/g],
  ['a token of ktx', /\bktx_[0-9a-f]{12}_[0-9a-f]{64}\b/g],
  ['a header with a login', /\b(Bearer|Basic)\s+[\w.~+/-]{12,}=*/gi],
  ['an address with a password', /(?<=:\/\/[^\s:/@]+:)[^\s@/]+(?=@)/g],
  ['a key of AWS', /\bA(?:KIA|SIA)[A-Z0-9]{16}\b/g],
  ['a key of Google', /\bAIza[\w-]{30,}/g],
  ['a token (JWT)', /\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]+/g],
  ['a private key', /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----/g],
];

/** The text with `[redacted]` in place of what looks like a credential. */
export function redactCredentials(text: string): string {
  return credentials.reduce((rest, [, pattern]) => rest.replace(pattern, '[redacted]'), text);
}

/** `password: x`, `the api key is x`: the word, what follows it, the value, what ends the value. */
const named =
  /\b(pass ?words?|passwd|passphrase|passwort|kennwort|contraseña|mot de passe|pwd|secret|(?:api|access|secret)[ _-]?key|(?:access|auth|api|bearer)[ _-]?token)['"`]?( ?[:=] ?| (?:is|ist|est|es) )['"`]?([^\s'"`]{3,200})['"`]?(?=([^\n]{0,3}))/giu;

/** What people write there instead of the secret: how it is kept, its type, or where it stands. */
const noSecret =
  /^(?:[<${*[(#/]|(?:env|file|keychain|vault|https?):|(?:required|optional|mandatory|none|null|nil|empty|unknown|yes|no|true|false|hidden|masked|redacted|removed|changed|unchanged|expired|reset|missing|wrong|invalid|correct|hash(?:ed)?|encrypted|salted|plain|field|column|string|text|bytes?|blob|char|varchar|number|integer|boolean|uuid|n\/a|tbd|todo|same|see|ask|never|always|not|the|and|or|for|as|in|is|was|pflicht|erforderlich|leer)\b|(?:sha|md|utf|bcrypt|argon|scrypt|varchar|char|n?var|int)[-_]?\d*\b)/iu;

/** True if the word behind `password:` can be the password itself. */
function looksSecret([, , link = '', value = '', after = '']: RegExpMatchArray): boolean {
  const word = value.replace(/[.,;:!?)\]]+$/u, '');
  if (word.length < 3 || noSecret.test(word)) return false;
  const isPlainWord = /^\p{Ll}+$|^\p{Lu}\p{Ll}+$/u.test(word);
  // "password: hashed with a salt" goes on; "the password is short" says how it is.
  return !isPlainWord || (/[:=]/.test(link) && !/^ ?[\p{L}\p{N}(]/u.test(after));
}

/** Like `redactCredentials`, and without what words call a password or a key. */
export function redactProse(text: string): string {
  return redactCredentials(text).replaceAll(named, (whole, ...groups: string[]) => {
    const [word = '', link = '', value = '', after = ''] = groups;
    if (!looksSecret([whole, word, link, value, after])) return whole;
    const start = whole.lastIndexOf(value);
    return `${whole.slice(0, start)}[redacted]${whole.slice(start + value.length)}`;
  });
}

/** What a text has that looks like a credential, in words; undefined if there is nothing. */
export function findCredential(text: string): string | undefined {
  const found = credentials.find(([, pattern]) => text.search(pattern) >= 0)?.[0];
  if (found !== undefined) return found;
  return [...text.matchAll(named)].some(looksSecret) ? 'a password or a key' : undefined;
}
