import type { z } from 'zod';
import type { querySchema } from '../../../src/semantic/query/query.ts';

type Rows = readonly (readonly (string | number | null)[])[];

export interface Question {
  readonly query: z.input<typeof querySchema>;
  /** The answer as SQL by hand, or row by row. */
  readonly is: string | Rows;
  /** True where the order of the rows is asked for. */
  readonly isOrdered?: boolean;
}

const invoiced = 'FROM invoices i LEFT JOIN customers c ON c.id = i.customer_id';
const sold =
  'FROM lines l LEFT JOIN invoices i ON i.id = l.invoice_id LEFT JOIN customers c ON c.id = i.customer_id LEFT JOIN tracks t ON t.id = l.track_id';
const listed =
  'FROM tracks t JOIN playlist_tracks x ON x.track_id = t.id LEFT JOIN playlists p ON p.id = x.playlist_id';

/** What goes wrong in SQL that is put together in haste, with what is right. */
export const questions: Readonly<Record<string, Question>> = {
  'OR in the filter of a metric, beside an OR of the query': {
    query: {
      metrics: ['invoices.live', 'invoices.count'],
      where: ["customers.country = 'DE' or customers.country = 'FR'"],
    },
    is: `SELECT sum(CASE WHEN i.state IN ('paid', 'open') THEN i.total END), count(*) ${invoiced} WHERE c.country IN ('DE', 'FR')`,
  },
  'two ORs of two metrics around one base': {
    query: { metrics: ['invoices.live_if', 'invoices.live'] },
    is: `SELECT sum(CASE WHEN state IN ('paid', 'open') AND (total > 15 OR total < 10) THEN total END) * 1.0 / count(CASE WHEN total > 15 OR total < 10 THEN 1 END),
      sum(CASE WHEN state IN ('paid', 'open') THEN total END) FROM invoices`,
  },
  'segments with OR are met at once': {
    query: { metrics: ['invoices.count'], segments: ['invoices.settled', 'invoices.small'] },
    is: "SELECT count(*) FROM invoices WHERE (state = 'paid' OR state = 'void') AND total < 50",
  },
  'AND and OR without parentheses in a condition': {
    query: {
      metrics: ['invoices.count'],
      where: [
        "invoices.state = 'open' or invoices.state = 'paid' and invoices.total > 20",
        'invoices.id < 9',
      ],
    },
    is: "SELECT count(*) FROM invoices WHERE (state = 'open' OR (state = 'paid' AND total > 20)) AND id < 9",
  },
  'a difference as numerator, and in a difference': {
    query: { metrics: ['invoices.each', 'invoices.nested_minus', 'invoices.twice_rest'] },
    is: `SELECT (sum(total) - sum(CASE WHEN state = 'void' THEN total END)) * 1.0 / count(*),
      sum(total) - (sum(CASE WHEN upper(c.country) = 'DE' THEN total END) - sum(CASE WHEN state IN ('paid', 'open') THEN total END)),
      2 * (sum(total) - sum(CASE WHEN upper(c.country) = 'DE' THEN total END)) ${invoiced}`,
  },
  'metrics of the model inside arithmetic of the query': {
    query: {
      metrics: [
        { name: 'x', expr: 'invoices.revenue / (invoices.count - invoices.dated)' },
        { name: 'y', expr: '-invoices.rest / invoices.count * 2' },
      ],
    },
    is: "SELECT sum(total) / (count(*) - count(due_on)), -(sum(total) - sum(CASE WHEN state = 'void' THEN total END)) / count(*) * 2 FROM invoices",
  },
  'a sum that has no rows beside one that has': {
    query: { metrics: ['invoices.rest', 'invoices.each'], dimensions: ['customers.country'] },
    is: `SELECT c.country, sum(total) - sum(CASE WHEN state = 'void' THEN total END),
      (sum(total) - coalesce(sum(CASE WHEN state = 'void' THEN total END), 0)) * 1.0 / count(*) ${invoiced} GROUP BY 1`,
  },
  'no customer, no country and an empty one': {
    query: {
      metrics: ['invoices.count', 'invoices.revenue'],
      dimensions: ['customers.country'],
      include_empty: true,
    },
    is: [
      ['', 0, null],
      ['DE', 2, 30.3],
      ['FR', 2, 5],
      ['de', 2, 70.7],
      [null, 3, 131.3],
    ],
  },
  'orphans at two hops are one group with those who have none': {
    query: { metrics: ['invoices.count'], dimensions: ['customers.rep.name'] },
    is: 'SELECT e.name, count(*) FROM invoices i LEFT JOIN customers c ON c.id = i.customer_id LEFT JOIN employees e ON e.id = c.rep_id GROUP BY 1',
  },
  'lines of invoices that are missing still count': {
    query: { metrics: ['lines.gross', 'lines.count'], dimensions: ['invoices.state'] },
    is: `SELECT i.state, sum(l.price * l.quantity), count(*) ${sold} GROUP BY 1`,
  },
  'a chain of three joins with gaps': {
    query: { metrics: ['lines.pieces'], dimensions: ['tracks.albums.artists.name'] },
    is: `SELECT a.name, sum(l.quantity) ${sold} LEFT JOIN albums b ON b.id = t.album_id LEFT JOIN artists a ON a.id = b.artist_id GROUP BY 1`,
  },
  'a 1:1 table drops no row and makes none': {
    query: { metrics: ['tracks.count', 'tracks.length'], dimensions: ['tracks.texts.language'] },
    is: 'SELECT x.language, count(*), sum(ms) FROM tracks t LEFT JOIN texts x ON x.track_id = t.id GROUP BY 1',
  },
  'the 1:1 table has its own rows': {
    query: { metrics: ['texts.count'], dimensions: ['tracks.genre'] },
    is: 'SELECT t.genre, count(*) FROM texts x LEFT JOIN tracks t ON t.id = x.track_id GROUP BY 1',
  },
  'both ends of 1:1 by one dimension': {
    query: { metrics: ['tracks.count', 'texts.count'], dimensions: ['tracks.albums.title'] },
    is: [
      ['High', 2, 2],
      ['Low', 1, 0],
      ['None', 1, 1],
      [null, 1, 0],
    ],
  },
  // A track that is in no list is in no group.
  'distinct values over a fan': {
    query: {
      metrics: ['tracks.genres', 'tracks.count', 'tracks.length'],
      dimensions: ['playlists.name'],
    },
    is: `SELECT p.name, count(DISTINCT t.genre), count(DISTINCT t.id), sum(t.ms) ${listed} GROUP BY 1`,
  },
  'a row in two lists that fit counts once': {
    query: {
      metrics: ['tracks.count', 'tracks.length'],
      where: ["playlists.name in ('gym', 'car')"],
    },
    is: "SELECT count(*), sum(ms) FROM tracks t WHERE EXISTS (SELECT 1 FROM playlist_tracks x JOIN playlists p ON p.id = x.playlist_id WHERE x.track_id = t.id AND p.name IN ('gym', 'car'))",
  },
  'two conditions on the many side may be met by two rows': {
    query: {
      metrics: ['tracks.count'],
      where: ["playlists.name = 'gym'", "playlists.name = 'car'"],
    },
    is: [[1]],
  },
  'a NOT on the many side asks for a row that differs': {
    query: { metrics: ['customers.count'], where: ["tickets.priority != 'high'"] },
    is: "SELECT count(*) FROM customers c WHERE EXISTS (SELECT 1 FROM tickets t WHERE t.customer_id = c.id AND t.priority <> 'high')",
  },
  'the many side or an own field': {
    query: {
      metrics: ['customers.count'],
      where: ["tickets.priority = 'low' or customers.country = 'FR'"],
    },
    is: "SELECT count(*) FROM customers c WHERE c.country = 'FR' OR EXISTS (SELECT 1 FROM tickets t WHERE t.customer_id = c.id AND t.priority = 'low')",
  },
  'ratio of sums, and average of ratios': {
    query: { metrics: ['lines.mean_price', 'lines.mean_of_prices', 'avg(lines.price)'] },
    is: 'SELECT sum(price * quantity) / sum(quantity), avg(price * quantity * 1.0 / nullif(quantity, 0)), avg(price) FROM lines',
  },
  'average of all, and of each one’s sum': {
    query: { metrics: ['invoices.average', 'invoices.of_buyer'] },
    is: 'SELECT avg(total), (SELECT avg(s) FROM (SELECT sum(total) AS s FROM invoices WHERE customer_id IS NOT NULL GROUP BY customer_id) q) FROM invoices',
  },
  'rows, values, and different values': {
    query: {
      metrics: [
        'invoices.count',
        'invoices.dated',
        'invoices.buyers',
        'count(distinct invoices.state)',
        'invoices.unpaid',
      ],
    },
    is: "SELECT count(*), count(due_on), count(DISTINCT customer_id), count(DISTINCT state), sum(CASE WHEN state <> 'paid' THEN 1 ELSE 0 END) FROM invoices",
  },
  'different values are no sum over groups': {
    query: { metrics: ['invoices.buyers'], dimensions: ['invoices.state'] },
    is: 'SELECT state, count(DISTINCT customer_id) FROM invoices GROUP BY 1',
  },
  'different texts by an expression': {
    query: { metrics: ['customers.lands', 'count(distinct customers.country)'] },
    is: 'SELECT count(DISTINCT upper(country)), count(DISTINCT country) FROM customers',
  },
  'NULL is neither equal nor different': {
    query: {
      metrics: ['invoices.count'],
      where: [{ field: 'invoices.state', op: '!=', value: 'paid' }],
    },
    is: "SELECT count(*) FROM invoices WHERE state <> 'paid'",
  },
  'NULL in a list means those without': {
    query: {
      metrics: ['invoices.count'],
      where: [{ field: 'invoices.state', op: 'in', value: ['void', null] }],
    },
    is: "SELECT count(*) FROM invoices WHERE state = 'void' OR state IS NULL",
  },
  'NOT IN a list with NULL is not empty': {
    query: {
      metrics: ['invoices.count'],
      where: [{ field: 'invoices.state', op: 'not_in', value: ['void', null] }],
    },
    is: "SELECT count(*) FROM invoices WHERE state <> 'void'",
  },
  'by a boolean that may be NULL, and by a CASE': {
    query: { metrics: ['invoices.count'], dimensions: ['invoices.is_large', 'invoices.size'] },
    is: "SELECT CASE WHEN total > 30 THEN 1 WHEN total <= 30 THEN 0 END, CASE WHEN total >= 40 THEN 'L' WHEN total >= 10 THEN 'M' END, count(*) FROM invoices GROUP BY 1, 2",
  },
  'a discount that is NULL': {
    query: { metrics: ['lines.sold', 'lines.gross'], dimensions: ['invoices.id'] },
    is: `SELECT i.id, sum(l.price * l.quantity * (1 - l.discount)), sum(l.price * l.quantity) ${sold} GROUP BY 1`,
  },
  'the filter of a metric follows a join, that of the query another': {
    query: {
      metrics: ['invoices.german', 'invoices.count'],
      where: ["customers.rep.name = 'Kim'"],
    },
    is: `SELECT sum(CASE WHEN upper(c.country) = 'DE' THEN i.total END), count(*) ${invoiced} JOIN employees e ON e.id = c.rep_id WHERE e.name = 'Kim'`,
  },
  'two facts by what they share, each by its own rows': {
    query: { metrics: ['invoices.revenue', 'tickets.count'], dimensions: ['customers.land'] },
    is: [
      ['', null, 1],
      ['DE', 101, 3],
      ['FR', 5, 0],
      [null, 131.3, 1],
    ],
  },
  'arithmetic over two facts where one has no rows': {
    query: {
      metrics: [
        { name: 'x', expr: 'invoices.revenue - tickets.count' },
        { name: 'y', expr: 'invoices.revenue / tickets.count' },
      ],
      dimensions: ['customers.land'],
    },
    is: [
      ['', -1, 0],
      ['DE', 98, 101 / 3],
      ['FR', 5, null],
      [null, 130.3, 131.3],
    ],
  },
  'a condition on one fact alone': {
    query: {
      metrics: ['invoices.count', 'tickets.count'],
      where: [{ on: 'tickets', where: "tickets.priority = 'high'" }],
    },
    is: [[9, 3]],
  },
  'a condition on the result, of a metric that is not shown': {
    query: {
      metrics: ['invoices.count'],
      dimensions: ['customers.land'],
      having: ['invoices.revenue > 5'],
    },
    is: [
      ['DE', 4],
      [null, 3],
    ],
  },
  'the first of several that tie': {
    query: {
      metrics: ['invoices.count'],
      dimensions: ['customers.country'],
      order_by: [{ field: 'invoices.count', dir: 'desc' }],
      limit: 2,
    },
    is: [
      [null, 3],
      ['DE', 2],
    ],
    isOrdered: true,
  },
  'the last by what may be NULL': {
    query: {
      metrics: ['invoices.revenue'],
      dimensions: ['invoices.state'],
      order_by: [{ field: 'invoices.revenue' }],
      limit: 2,
    },
    is: [
      ['open', 25.2],
      [null, 40.4],
    ],
    isOrdered: true,
  },
  'whole numbers are divided for real': {
    query: {
      metrics: [
        'tracks.minutes',
        { name: 'x', expr: 'tracks.length / tracks.count' },
        'avg(tracks.ms / 2000)',
        'sum(tracks.seconds)',
      ],
    },
    is: [[6001 / 60000, 6001 / 5, 6001 / 4 / 2000, 6.001]],
  },
  'decimals add up': {
    query: {
      metrics: ['sum(lines.price)', 'sum(lines.price * lines.quantity)'],
      where: ['invoices.id = 1'],
    },
    is: [[0.3, 0.5]],
  },
  'by a ratio whose denominator is 0': {
    query: { metrics: ['lines.mean_price'], dimensions: ['tracks.id'] },
    is: `SELECT t.id, sum(l.price * l.quantity) * 1.0 / nullif(sum(l.quantity), 0) ${sold} GROUP BY 1`,
  },
  'upper and lower case are two values': {
    query: {
      metrics: ['customers.count'],
      dimensions: ['customers.country'],
      where: [{ field: 'customers.country', op: 'in', value: ['de', 'fr'] }],
    },
    is: [['de', 1]],
  },
  'a text is found as it is written': {
    query: {
      metrics: ['customers.count'],
      where: [
        { field: 'customers.name', op: 'contains', value: 'nn' },
        { field: 'customers.name', op: 'starts_with', value: 'a' },
      ],
    },
    is: [[0]],
  },
  'a percent sign in a text is one': {
    query: {
      metrics: ['customers.count'],
      where: [{ field: 'customers.city', op: 'starts_with', value: '50%' }],
    },
    is: [[1]],
  },
  'an underscore in a text is one': {
    query: {
      metrics: ['tracks.count'],
      dimensions: ['tracks.name'],
      where: [{ field: 'tracks.name', op: 'contains', value: 'a_' }],
    },
    is: [['a_b', 1]],
  },
  'a backslash in a text is one': {
    query: {
      metrics: ['tracks.count'],
      dimensions: ['tracks.id'],
      where: [{ field: 'tracks.name', op: 'contains', value: '\\' }],
    },
    is: [[4, 1]],
  },
  'letters beyond ASCII': {
    query: {
      metrics: ['customers.count'],
      dimensions: ['customers.name'],
      where: ["customers.city like 'K%ö%' or customers.name = 'Ánna'"],
    },
    is: [
      ['Ann', 1],
      ['Ánna', 1],
    ],
  },
  'a quote in a text, of the query and of a parameter': {
    query: {
      metrics: ['invoices.chosen', 'invoices.count'],
      where: ["customers.name = 'O''Hara'"],
      parameters: { state: "o'pen" },
    },
    is: [[null, 1]],
  },
  'a day as an upper bound of a time': {
    query: {
      metrics: ['invoices.count'],
      where: ["invoices.issued_at < '2024-01-01'", "invoices.due_on <= '2023-12-31'"],
    },
    is: [[1]],
  },
  'a boss is an employee of another row': {
    query: {
      metrics: ['employees.payroll', 'employees.heads', 'employees.above'],
      dimensions: ['employees.boss.name'],
    },
    is: [
      ['Kim', 80, 1, 0],
      ['Lee', 60, 1, 0],
      [null, 100, 2, 0],
    ],
  },
  'the boss of the boss': {
    query: { metrics: ['employees.heads'], dimensions: ['employees.boss.boss.name'] },
    is: [
      ['Kim', 1],
      [null, 3],
    ],
  },
  'those with none of the many have no invoices, not no row': {
    query: {
      metrics: ['customers.count', 'sum(customers.spent)'],
      dimensions: ['customers.invoices_each'],
    },
    is: [
      [0, 1, null],
      [1, 3, 65.6],
      [2, 2, 101],
    ],
  },
  'the middle of an even number of values': {
    query: { metrics: ['invoices.middle'], where: ['invoices.total > 0'] },
    is: [[30.3]],
  },
  'shares add up to one, whoever has none': {
    query: { metrics: ['invoices.share'], dimensions: ['customers.land'] },
    is: `SELECT upper(c.country), sum(total) / (SELECT sum(total) FROM invoices) ${invoiced} GROUP BY 1`,
  },
};

/** Each amount of `days` is a power of two, so that a sum says which rows are in it. */
export const times: Readonly<Record<string, Question>> = {
  'weeks at the turn of a year of 53': {
    query: {
      metrics: ['days.sum'],
      dimensions: ['days.on_day.week'],
      where: ["days.on_day < '2022-01-01'"],
    },
    is: [
      ['2020-12-21', 1],
      ['2020-12-28', 30],
      ['2021-01-04', 32],
    ],
  },
  'weeks that begin on Sunday': {
    query: {
      metrics: ['days.sum'],
      dimensions: ['days.on_day.week'],
      where: ["days.on_day < '2022-01-01'"],
      week_start: 'sunday',
    },
    is: [
      ['2020-12-27', 15],
      ['2021-01-03', 48],
    ],
  },
  'a week and the year of its day': {
    query: {
      metrics: ['days.sum'],
      dimensions: ['days.on_day.year', 'days.on_day.week'],
      where: ["days.on_day between '2020-12-28' and '2021-01-03'"],
    },
    is: [
      ['2020-01-01', '2020-12-28', 6],
      ['2021-01-01', '2020-12-28', 24],
    ],
  },
  'seven days over a leap day': {
    query: {
      metrics: ['days.week'],
      dimensions: ['days.on_day.day'],
      where: ["days.on_day >= '2024-02-28'", "days.on_day < '2024-04-01'"],
    },
    is: [
      ['2024-02-28', 128],
      ['2024-02-29', 384],
      ['2024-03-01', 896],
      ['2024-03-31', 1024],
    ],
  },
  'seven days at the turn of a year': {
    query: {
      metrics: ['days.week', 'days.to_year'],
      dimensions: ['metric_time.day'],
      where: ["days.on_day between '2020-12-31' and '2021-01-04'"],
    },
    is: [
      ['2020-12-31', 7, 7],
      ['2021-01-01', 15, 8],
      ['2021-01-03', 30, 24],
      ['2021-01-04', 60, 56],
    ],
  },
  'a month back from its last day': {
    query: {
      metrics: ['days.month'],
      dimensions: ['metric_time.day'],
      where: ["days.on_day between '2024-02-28' and '2024-04-30'"],
    },
    is: [
      ['2024-02-28', 128],
      ['2024-02-29', 384],
      ['2024-03-01', 896],
      ['2024-03-31', 1536],
      ['2024-04-30', 3072 - 1024],
    ],
  },
  'a year ago, from a leap day and to one': {
    query: {
      metrics: ['days.sum', 'days.year_ago'],
      dimensions: ['metric_time.day'],
      where: ["days.on_day > '2024-01-01'", "days.on_day < '2026-01-01'"],
    },
    is: [
      ['2024-02-28', 128, 64],
      ['2024-02-29', 256, null],
      ['2024-03-01', 512, null],
      ['2024-03-31', 1024, null],
      ['2024-04-30', 2048, null],
      ['2025-02-28', 4096, 384],
      ['2025-03-01', null, 512],
      ['2025-03-31', null, 1024],
      ['2025-04-30', null, 2048],
    ],
  },
  'a month ago, where the months differ in length': {
    query: {
      metrics: ['days.sum', 'days.month_ago'],
      dimensions: ['metric_time.month'],
      where: ["days.on_day > '2024-01-01'", "days.on_day < '2024-12-31'"],
    },
    is: [
      ['2024-02-01', 384, null],
      ['2024-03-01', 1536, 384],
      ['2024-04-01', 2048, 1536],
      ['2024-05-01', null, 2048],
    ],
  },
  'a year to date starts anew, over months without rows too': {
    query: {
      metrics: ['days.sum', 'days.to_year'],
      dimensions: ['metric_time.month'],
      where: ["days.on_day >= '2024-01-01'", "days.on_day < '2025-04-01'"],
      fill_time: true,
    },
    is: [
      ['2024-02-01', 384, 384],
      ['2024-03-01', 1536, 1920],
      ['2024-04-01', 2048, 3968],
      ...['05', '06', '07', '08', '09', '10', '11', '12'].map((month) => [
        `2024-${month}-01`,
        null,
        3968,
      ]),
      ['2025-01-01', null, null],
      ['2025-02-01', 4096, 4096],
    ],
  },
  'growth where the year before has nothing': {
    query: {
      metrics: ['invoices.revenue', 'invoices.growth'],
      dimensions: ['metric_time.year'],
      where: ["invoices.issued_at >= '2023-01-01'", "invoices.issued_at < '2026-01-01'"],
    },
    is: [
      ['2023-01-01', 10.1, null],
      ['2024-01-01', 222.2, 21],
      ['2025-01-01', 5, 5 / 222.2 - 1],
    ],
  },
  'a running total of what is NULL, and its quotient': {
    query: {
      metrics: ['invoices.running', 'invoices.running_each'],
      dimensions: ['metric_time.quarter'],
      where: ["invoices.issued_at < '2025-01-01'"],
    },
    is: [
      ['2023-10-01', 10.1, 10.1],
      ['2024-01-01', 161.6, 161.6 / 6],
      ['2024-10-01', 232.3, 232.3 / 7],
    ],
  },
  'periods without rows, and rows without a time': {
    query: {
      metrics: ['invoices.count', 'invoices.revenue'],
      dimensions: ['invoices.due_on.quarter'],
      fill_time: true,
    },
    is: [
      ['2023-10-01', 1, 10.1],
      ['2024-01-01', 5, 90.9],
      ['2024-04-01', 0, null],
      ['2024-07-01', 0, null],
      ['2024-10-01', 0, null],
      ['2025-01-01', 2, 75.7],
      [null, 1, 60.6],
    ],
  },
  'the last stock of each month, of those who told it': {
    query: { metrics: ['stock.level', 'stock.opening'], dimensions: ['stock.day.month'] },
    is: [
      ['2024-01-01', 18, 16],
      ['2024-02-01', 19, 19],
      ['2024-03-01', 13, 30],
    ],
  },
  'the last stock that is known': {
    query: { metrics: ['stock.known'], dimensions: ['stock.site'] },
    is: [
      ['n', 32],
      ['s', 17],
    ],
  },
  'a stock by month and site, and of all': {
    query: { metrics: ['stock.level'], dimensions: ['stock.site'] },
    is: [
      ['n', 32],
      ['s', null],
    ],
  },
};
