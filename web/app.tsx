import { useEffect, useRef, useState } from 'preact/hooks';
import type { About, Status, Waiting as Queue } from './answers.ts';
import { type ApiError, isExport, onLogout } from './api.ts';
import { useData } from './data.ts';
import { AboutPage } from './about/about-page.tsx';
import { GraphPage } from './graph/graph-page.tsx';
import { AskPage } from './ask/ask-page.tsx';
import { DatasetsPage } from './pages/datasets.tsx';
import { EvalsPage } from './pages/evals.tsx';
import { HomePage } from './pages/home.tsx';
import { SearchPage } from './pages/search.tsx';
import { UsagePage } from './pages/usage.tsx';
import { ReviewPage } from './review/review-page.tsx';
import { LoginForm, Person } from './login.tsx';
import { Failure, Said, Waiting } from './parts/basics.tsx';
import { SearchBox } from './parts/search-box.tsx';
import { type Place, usePlace } from './router.ts';

interface PageEntry {
  readonly path: string;
  readonly title: string;
  readonly show: (place: Place) => preact.ComponentChild;
  /** False for a page that the menu does not list. */
  readonly isListed?: false;
  /** True if there is nothing to show of it without the server. */
  readonly isLive?: true;
  /** True if it is for the person who runs ktx alone. */
  readonly isOwn?: true;
}

const pages: readonly PageEntry[] = [
  { path: '', title: 'Home', show: () => <HomePage /> },
  { path: 'review', title: 'Review', show: (place) => <ReviewPage place={place} /> },
  { path: 'joins', title: 'Joins', show: (place) => <GraphPage place={place} /> },
  { path: 'datasets', title: 'Datasets', show: () => <DatasetsPage /> },
  { path: 'ask', title: 'Ask', show: () => <AskPage />, isLive: true, isOwn: true },
  {
    path: 'evals',
    title: 'Evals',
    show: (place) => <EvalsPage place={place} />,
    isLive: true,
    isOwn: true,
  },
  { path: 'models', title: 'Models', show: () => <UsagePage />, isLive: true, isOwn: true },
  {
    path: 'about',
    title: 'About',
    show: (place) => <AboutPage place={place} key={place.parts[1]} />,
    isListed: false,
  },
  {
    path: 'search',
    title: 'Search',
    show: (place) => <SearchPage place={place} />,
    isListed: false,
    isLive: true,
  },
];

export function App({ refused }: { readonly refused: ApiError | undefined }) {
  const place = usePlace();
  const about = useData<About>('about');
  const [isOut, setOut] = useState(false);
  useEffect(() => onLogout(() => setOut(true)), []);
  const [first = ''] = place.parts;
  const page = pages.find(({ path, isOwn }) => path === first && isShownTo(about.data, isOwn));
  useEffect(() => {
    document.title = `${page?.title ?? 'Not found'} · ${about.data?.project ?? 'ktx'}`;
    scrollTo(0, 0);
  }, [first, about.data]);
  const error = refused ?? about.error;
  if (isOut || error?.code === 'login') return <LoginForm refused={refused} />;
  if (error !== undefined) return <LockedOut error={error} />;
  return (
    <>
      <a class="skip" href="#main" onClick={focusMain}>
        Skip to the content
      </a>
      <TopBar about={about.data} />
      <Menu current={first} about={about.data} />
      <main id="main" tabIndex={-1}>
        <Shown page={page} place={place} isKnown={about.data !== undefined} />
      </main>
    </>
  );
}

interface ShownPage {
  readonly page: PageEntry | undefined;
  readonly place: Place;
  /** False until the server has said who asks: before that nothing else is asked. */
  readonly isKnown: boolean;
}

function Shown({ page, place, isKnown }: ShownPage) {
  if (!isKnown) return <Waiting />;
  if (page === undefined) return <p class="empty">There is no such page.</p>;
  return <>{page.show(place)}</>;
}

/** Behind the login of a server there are only pages that each person sees with their role. */
function isShownTo(about: About | undefined, isOwn: true | undefined): boolean {
  return isOwn !== true || (about !== undefined && about.login === undefined);
}

function focusMain(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

function TopBar({ about }: { readonly about: About | undefined }) {
  return (
    <div class="top" role="banner">
      <a class="brand" href="#/">
        <span class="mark" aria-hidden="true">
          ktx
        </span>
        <span class="project">
          <Said>{about?.project ?? ''}</Said>
        </span>
      </a>
      {isExport ? null : <SearchBox />}
      <span class="tags">
        {about?.read_only === true ? <span class="chip chip-plain">read only</span> : null}
        {about?.login === undefined ? null : <Person login={about.login} />}
      </span>
    </div>
  );
}

/** How many questions are open: on the home page from what it reads anyway. */
function useOpenQuestions(isKnown: boolean, isHome: boolean): number {
  const { data: status } = useData<Status>(isKnown && isHome ? 'status' : undefined);
  const { data: queue } = useData<Queue>(isKnown && !isHome ? 'review' : undefined);
  const last = useRef(0);
  const conflicts = isHome ? status?.attention.contested : queue?.conflicts;
  const others = isHome ? status?.attention : queue;
  if (conflicts !== undefined && others !== undefined) {
    const { joins, unreviewed, corrections } = others;
    last.current = conflicts.length + joins.length + unreviewed.length + corrections.length;
  }
  return last.current;
}

function Menu({ current, about }: { readonly current: string; readonly about: About | undefined }) {
  const open = useOpenQuestions(about !== undefined, current === '');
  const menu = useRef<HTMLElement>(null);
  // On a phone the menu is wider than the screen.
  useEffect(() => {
    const link = menu.current?.querySelector('[aria-current]');
    link?.scrollIntoView({ inline: 'center', block: 'nearest' });
  }, [current, about]);
  const shown = pages.filter(
    (page) => page.isListed !== false && !(isExport && page.isLive) && isShownTo(about, page.isOwn),
  );
  return (
    <nav class="menu" aria-label="Pages" ref={menu}>
      {shown.map(({ path, title }) => (
        <a key={path} href={`#/${path}`} aria-current={path === current ? 'page' : undefined}>
          {title}
          {path === 'review' && open > 0 ? <b class="badge">{open}</b> : null}
        </a>
      ))}
    </nav>
  );
}

/** Without a valid link there is nothing to see, but how to get one. */
function LockedOut({ error }: { readonly error: ApiError }) {
  const [command] = useState('ktx web --open');
  return (
    <main class="locked" id="main">
      <span class="mark" aria-hidden="true">
        ktx
      </span>
      <h1>This page needs its link</h1>
      <p>
        The link that <code>ktx web</code> prints lets in one browser, once. Start it again for a
        new one:
      </p>
      <pre>{command}</pre>
      <Failure error={error} />
    </main>
  );
}
