import { useState } from 'preact/hooks';
import type { About } from './answers.ts';
import { type ApiError, logIn, logOut } from './api.ts';
import { Failure, Said } from './parts/basics.tsx';

/** Behind the login of a server: the same token as for MCP. */
export function LoginForm() {
  const [error, setError] = useState<ApiError>();
  const [token, setToken] = useState('');
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const refused = await logIn(token.trim());
    if (refused === undefined) location.reload();
    setError(refused);
  };
  return (
    <main class="locked" id="main">
      <span class="mark" aria-hidden="true">
        ktx
      </span>
      <h1>Log in</h1>
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
      {error === undefined ? null : <Failure error={error} />}
    </main>
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
