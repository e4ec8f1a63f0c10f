import { useEffect, useState } from 'preact/hooks';
import type { About } from './answers.ts';
import { type ApiError, goToCompany, logIn, logOut, read } from './api.ts';
import { Failure, Said } from './parts/basics.tsx';

interface LoginFormProps {
  /** Why the last try failed. */
  readonly refused: ApiError | undefined;
}

/** Behind the login of a server: that of the company, or the same token as for MCP. */
export function LoginForm({ refused }: LoginFormProps) {
  const [error, setError] = useState(refused);
  const [company, setCompany] = useState<string>();
  useEffect(() => {
    void read<About>('about').then((answer) => setCompany(answer.error?.company));
  }, []);
  return (
    <main class="locked" id="main">
      <span class="mark" aria-hidden="true">
        ktx
      </span>
      <h1>Log in</h1>
      {error === undefined ? null : <Failure error={error} />}
      {company === undefined ? null : <CompanyLogin provider={company} onRefused={setError} />}
      {company === undefined ? (
        <TokenForm onRefused={setError} />
      ) : (
        <details>
          <summary>With a token</summary>
          <TokenForm onRefused={setError} />
        </details>
      )}
    </main>
  );
}

interface LoginPartProps {
  readonly onRefused: (error: ApiError | undefined) => void;
}

function CompanyLogin({ provider, onRefused }: LoginPartProps & { readonly provider: string }) {
  const go = async (): Promise<void> => onRefused(await goToCompany());
  return (
    <p class="company">
      <button type="button" class="button primary" onClick={() => void go()}>
        Log in at <Said>{provider}</Said>
      </button>
    </p>
  );
}

function TokenForm({ onRefused }: LoginPartProps) {
  const [token, setToken] = useState('');
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const refused = await logIn(token.trim());
    if (refused === undefined) location.reload();
    onRefused(refused);
  };
  return (
    <>
      <p>
        The person who runs this server gives you a token: <code>ktx mcp token create</code>
      </p>
      <form class="login" onSubmit={(event) => void submit(event)}>
        {/* For password managers: the token is kept under this name. */}
        <input type="text" autocomplete="username" value="ktx" hidden readOnly />
        <label for="token">Token</label>
        <input
          id="token"
          type="password"
          autocomplete="current-password"
          required
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
        <button class="button primary" type="submit">
          Log in
        </button>
      </form>
    </>
  );
}

/** Who is logged in, with their role, and the way out. */
export function Person({ login }: { readonly login: NonNullable<About['login']> }) {
  const leave = async (): Promise<void> => {
    await logOut();
    location.reload();
  };
  return (
    <span class="person">
      <Said>{login.role === undefined ? login.name : `${login.name} (${login.role})`}</Said>{' '}
      <button class="button" type="button" onClick={() => void leave()}>
        Log out
      </button>
    </span>
  );
}
