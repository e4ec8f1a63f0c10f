import { isSecretReference, type ReadSecret } from '../../store/secrets.ts';

/** Resolves secret references and removes their values from messages. */
export interface SecretRedaction {
  /** The value of a reference; other text stays as it is. */
  resolve(text: string): string;
  redact(text: string): string;
}

export function openSecretRedaction(readSecret: ReadSecret): SecretRedaction {
  const secrets = new Set<string>();
  return {
    resolve(text) {
      if (!isSecretReference(text)) return text;
      const secret = readSecret(text);
      for (const part of secretParts(secret)) secrets.add(part);
      return secret;
    },
    redact(text) {
      const longestFirst = [...secrets].sort((a, b) => b.length - a.length);
      return longestFirst.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text);
    },
  };
}

/**
 * The secret and the parts that a server may quote: a token after its scheme, parts of an address.
 */
function secretParts(secret: string): readonly string[] {
  const url = URL.parse(secret);
  const urlParts =
    url === null
      ? []
      : [url.username, url.password, ...url.searchParams.values(), ...url.pathname.split('/')];
  return [secret, ...secret.split(/\s+/), ...urlParts].filter((part) => part.length >= 6);
}
