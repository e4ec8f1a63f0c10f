import type { ProviderClient } from 'oidc-provider';
import { formTargetOf, leadsToThisMachine } from './client-rules.ts';
import { html } from './pages.ts';
import type { Person } from './people.ts';

interface ConsentInput {
  readonly client: ProviderClient;
  readonly person: Person;
  readonly role: string;
  /** Where the code goes. */
  readonly redirect: string;
  readonly scopes: readonly string[];
  readonly resource: string;
  /** Shows that the answer comes from this page. */
  readonly proof: string;
}

/** Characters of a name that a stranger chose. */
const longestName = 60;

/** Asks a person whether a client may ask in their name. */
export function consentPage(asked: ConsentInput) {
  const { client, person, role, redirect, scopes, resource, proof } = asked;
  const name = visibleName(client.clientName ?? 'A program without a name');
  const target = new URL(redirect);
  const where = leadsToThisMachine(redirect)
    ? html`<p>
        The answer goes to a program on the machine of this browser (<code>${target.host}</code>).
        <strong>Go on only if you have just started the login there.</strong>
      </p>`
    : html`<p>The answer goes to <code>${target.host}</code>.</p>`;
  const body = html`<p>
      <strong>${name}</strong> wants to ask <code>${resource}</code> in your name. It says so
      itself: ktx knows only that it is <code>${client.clientId}</code>.
    </p>
    ${where}
    <p>
      You are <strong>${person.name}</strong>, with the role <strong>${role}</strong>. The program
      may:
    </p>
    <ul>
      ${scopes.map((scope) => html`<li><code>${scope}</code></li>`)}
    </ul>
    <form method="post">
      <input type="hidden" name="proof" value="${proof}" />
      <button name="answer" value="allow">Allow</button
      ><button name="answer" value="deny">Deny</button>
    </form>`;
  return { title: 'May this program ask in your name?', body, formTarget: formTargetOf(redirect) };
}

/** Without characters that hide or turn what stands beside them, and not endless. */
function visibleName(text: string): string {
  const visible = text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '').trim();
  return visible.length > longestName ? `${visible.slice(0, longestName)}…` : visible;
}
