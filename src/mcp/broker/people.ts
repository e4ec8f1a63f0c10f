import { z } from 'zod';
import { sha256 } from '../../lib/hash.ts';
import type { AuthConfig } from '../../project/open/serve-config.ts';
import type { SharedRecords } from '../../store/shared/shared-records.ts';
import { readGroups } from '../http/oidc.ts';
import type { PersonClaims } from './company-login.ts';

const personSchema = z.object({
  name: z.string(),
  groups: z.array(z.string()),
});

/** Who somebody is, as the provider said when they logged in last. */
export type Person = z.infer<typeof personSchema>;

const kind = 'Person';

/** The people who logged in. An account is the issuer and the subject. */
export function openPeople(
  records: SharedRecords,
  { issuer, claims: names }: Pick<AuthConfig, 'issuer' | 'claims'>,
) {
  const place = (account: string) => ({ kind, id: sha256(account) });
  return {
    /** Whom the claims describe. An address that nobody checked names nobody. */
    read(claims: PersonClaims): Person & { readonly account: string } {
      const said = claims[names.user];
      const isChecked = names.user !== 'email' || claims['email_verified'] !== false;
      const name = typeof said === 'string' && said !== '' && isChecked ? said : claims.sub;
      return {
        account: `${issuer} ${claims.sub}`,
        name: name.slice(0, 200),
        groups: [...readGroups(claims[names.groups])],
      };
    },
    keep: ({ account, name, groups }: Person & { readonly account: string }, hours: number) =>
      records.put({
        ...place(account),
        body: { name, groups },
        expires: Date.now() + hours * 3_600_000,
      }),
    find: async (account: string): Promise<Person | undefined> =>
      personSchema.safeParse((await records.find(place(account)))?.body).data,
  };
}

export type People = ReturnType<typeof openPeople>;
