/**
 * A record shop, small enough to count by hand and with everything that goes wrong: orphans, NULLs,
 * ties, leap days, odd texts.
 */
export const script = `
CREATE TABLE employees (id INTEGER, name VARCHAR(20), boss_id INTEGER, salary INTEGER);
INSERT INTO employees VALUES (1, 'Kim', NULL, 100), (2, 'Lee', 1, 80), (3, 'Max', 2, 60), (4, 'Nil', 7, NULL);
CREATE TABLE customers (id INTEGER, name VARCHAR(20), country VARCHAR(20), city VARCHAR(20), rep_id INTEGER);
INSERT INTO customers VALUES (1, 'Ann', 'DE', 'Köln', 1), (2, 'bob', 'de', 'Bonn', 1), (3, 'Ánna', 'FR', NULL, 2), (4, 'O''Hara', NULL, '50%_off', NULL),
  (5, 'Zoe', 'FR', '50 percent', 9), (6, 'empty', '', '', 2);
CREATE TABLE invoices (id INTEGER, customer_id INTEGER, issued_at TIMESTAMP, due_on DATE, total DECIMAL(10,2), state VARCHAR(9));
INSERT INTO invoices VALUES (1, 1, '2023-12-31 23:59:59', '2023-12-31', 10.10, 'paid'), (2, 1, '2024-01-01 00:00:00', '2024-01-31', 20.20, 'open'),
  (3, 2, '2024-02-28 12:00:00', '2024-02-28', 30.30, 'paid'), (4, 2, '2024-02-29 12:00:00', '2024-02-29', 40.40, NULL),
  (5, 3, '2024-03-01 00:00:00', '2024-03-31', 0.00, 'paid'), (6, 4, '2024-03-07 08:00:00', NULL, 60.60, 'void'),
  (7, 9, '2024-12-31 10:00:00', '2025-01-01', 70.70, 'paid'), (8, NULL, NULL, '2024-02-29', NULL, 'open'), (9, 5, '2025-02-28 00:00:00', '2025-02-28', 5.00, 'open');
CREATE TABLE lines (id INTEGER, invoice_id INTEGER, track_id INTEGER, price DECIMAL(10,2), quantity INTEGER, discount DECIMAL(4,2));
INSERT INTO lines VALUES (1, 1, 1, 0.10, 1, 0), (2, 1, 2, 0.20, 2, 0.5), (3, 2, 1, 1.00, 10, 0), (4, 3, 3, 2.00, 3, 0.1), (5, 3, 9, 4.00, 1, NULL),
  (6, 4, NULL, 5.00, 1, 0), (7, 99, 2, 6.00, 1, 0), (8, 6, 4, 7.00, 0, 0), (9, 7, 4, 8.00, 7, 0.25);
CREATE TABLE artists (id INTEGER, name VARCHAR(20));
INSERT INTO artists VALUES (1, 'AC/DC'), (2, 'Björk'), (3, 'Nobody');
CREATE TABLE albums (id INTEGER, title VARCHAR(20), artist_id INTEGER);
INSERT INTO albums VALUES (1, 'High', 1), (2, 'Low', 2), (3, 'None', 8);
CREATE TABLE tracks (id INTEGER, name VARCHAR(20), album_id INTEGER, genre VARCHAR(9), ms INTEGER);
INSERT INTO tracks VALUES (1, 'a_b', 1, 'rock', 1000), (2, 'a%b', 1, 'pop', 2500), (3, 'aXb', 2, 'rock', 2500), (4, 'a\\b', 3, NULL, NULL), (5, 'mute', NULL, 'pop', 1);
CREATE TABLE texts (track_id INTEGER, language VARCHAR(9));
INSERT INTO texts VALUES (1, 'en'), (2, 'en'), (4, NULL);
CREATE TABLE playlists (id INTEGER, name VARCHAR(9));
INSERT INTO playlists VALUES (1, 'gym'), (2, 'car'), (3, 'none');
CREATE TABLE playlist_tracks (playlist_id INTEGER, track_id INTEGER);
INSERT INTO playlist_tracks VALUES (1, 1), (1, 2), (2, 1), (2, 3), (2, 77);
CREATE TABLE tickets (id INTEGER, customer_id INTEGER, priority VARCHAR(9), opened_on DATE);
INSERT INTO tickets VALUES (1, 1, 'high', '2024-01-05'), (2, 1, 'low', '2024-02-29'), (3, 2, 'low', NULL), (4, 6, 'high', '2024-05-01'), (5, NULL, 'high', '2024-01-01');
CREATE TABLE stock (day DATE, site VARCHAR(9), track_id INTEGER, pieces INTEGER);
INSERT INTO stock VALUES ('2024-01-30', 'n', 1, 5), ('2024-01-31', 'n', 1, 7), ('2024-01-15', 's', 1, 11), ('2024-03-01', 'n', 1, 13), ('2024-03-31', 's', 1, NULL),
  ('2024-03-30', 's', 1, 17), ('2024-02-29', 'n', 2, 19);
CREATE TABLE days (id INTEGER, on_day DATE, amount INTEGER);
INSERT INTO days VALUES (1, '2020-12-27', 1), (2, '2020-12-28', 2), (3, '2020-12-31', 4), (4, '2021-01-01', 8), (5, '2021-01-03', 16), (6, '2021-01-04', 32),
  (7, '2023-02-28', 64), (8, '2024-02-28', 128), (9, '2024-02-29', 256), (10, '2024-03-01', 512), (11, '2024-03-31', 1024), (12, '2024-04-30', 2048), (13, '2025-02-28', 4096);`;

export const files: Readonly<Record<string, string>> = {
  employees: `
dataset: employees
source: employees
primary_key: [id]
fields: [{name: id, type: integer}, {name: name, type: string}, {name: salary, type: integer}]
metrics: [{name: payroll, agg: sum, of: salary}, {name: heads, agg: count}, {name: above, agg: count, where: salary > boss.salary}]
relationships: [{to: employees, on: {boss_id: id}, role: boss}]
`,
  customers: `
dataset: customers
source: customers
primary_key: [id]
fields:
  - {name: id, type: integer}
  - {name: name, type: string}
  - {name: country, type: string}
  - {name: city, type: string}
  - {name: land, expr: upper(country), type: string}
metrics: [{name: count, agg: count}, {name: lands, agg: count_distinct, of: land}]
row_metrics: [{name: invoices_each, metric: invoices.count, type: integer}, {name: spent, metric: invoices.revenue, type: decimal}]
relationships: [{to: employees, on: {rep_id: id}, role: rep}]
`,
  invoices: `
dataset: invoices
source: invoices
primary_key: [id]
default_time: issued_at
parameters: [{name: state, type: string, default: paid}]
fields:
  - {name: id, type: integer}
  - {name: customer_id, type: integer}
  - {name: issued_at, type: datetime}
  - {name: due_on, type: date}
  - {name: total, type: decimal}
  - {name: state, type: string}
  - {name: is_large, expr: total > 30, type: boolean}
  - {name: size, expr: "case when total >= 40 then 'L' when total >= 10 then 'M' end", type: string}
segments:
  - {name: settled, where: state = 'paid' or state = 'void'}
  - {name: small, where: total < 50}
metrics:
  - {name: revenue, agg: sum, of: total}
  - {name: count, agg: count}
  - {name: dated, agg: count, of: due_on}
  - {name: average, agg: avg, of: total}
  - {name: middle, agg: median, of: total}
  - {name: buyers, agg: count_distinct, of: customer_id}
  - {name: live, agg: sum, of: total, where: state = 'paid' or state = 'open'}
  - {name: unpaid, agg: count, where: not (state = 'paid')}
  - {name: german, agg: sum, of: total, where: "invoices.customers.land = 'DE'"}
  - {name: chosen, agg: sum, of: total, where: state = param.state}
  - {name: voided, agg: sum, of: total, where: state = 'void'}
  - {name: rest, expr: revenue - voided}
  - {name: twice_rest, expr: 2 * (revenue - german)}
  - {name: nested_minus, expr: revenue - (german - live)}
  - {name: each, ratio: {numerator: rest_or_all, denominator: count}}
  - {name: rest_or_all, expr: "revenue - coalesce(voided, 0)"}
  - {name: live_if, expr: live / count, where: total > 15 or total < 10}
  - {name: all_revenue, total: {of: revenue}}
  - {name: share, ratio: {numerator: revenue, denominator: all_revenue}}
  - {name: of_buyer, agg: avg, of: revenue, per: customer_id}
  - {name: to_date, cumulative: {of: revenue, grain_to_date: year}}
  - {name: running, cumulative: {of: revenue}}
  - {name: running_count, cumulative: {of: count}}
  - {name: running_each, ratio: {numerator: running, denominator: running_count}}
  - {name: year_before, offset: {of: revenue, by: 1 year}}
  - {name: growth, expr: revenue / year_before - 1}
relationships: [{to: customers, on: {customer_id: id}}]
`,
  lines: `
dataset: lines
source: lines
primary_key: [id]
fields:
  - {name: id, type: integer}
  - {name: price, type: decimal}
  - {name: quantity, type: integer}
  - {name: discount, type: decimal}
metrics:
  - {name: sold, agg: sum, of: price * quantity * (1 - discount)}
  - {name: gross, agg: sum, of: price * quantity}
  - {name: pieces, agg: sum, of: quantity}
  - {name: mean_price, ratio: {numerator: gross, denominator: pieces}}
  - {name: mean_of_prices, agg: avg, of: "price * quantity / nullif(quantity, 0)"}
  - {name: count, agg: count}
relationships: [{to: invoices, on: {invoice_id: id}}, {to: tracks, on: {track_id: id}}]
`,
  artists:
    'dataset: artists\nsource: artists\nprimary_key: [id]\nfields: [{name: id, type: integer}, {name: name, type: string}]\n',
  albums: `
dataset: albums
source: albums
primary_key: [id]
fields: [{name: id, type: integer}, {name: title, type: string}]
metrics: [{name: count, agg: count}]
relationships: [{to: artists, on: {artist_id: id}}]
`,
  tracks: `
dataset: tracks
source: tracks
primary_key: [id]
fields: [{name: id, type: integer}, {name: name, type: string}, {name: genre, type: string}, {name: ms, type: integer}, {name: seconds, expr: ms / 1000, type: decimal}]
metrics: [{name: count, agg: count}, {name: length, agg: sum, of: ms}, {name: minutes, expr: sum(ms) / 60000}, {name: genres, agg: count_distinct, of: genre}]
relationships: [{to: albums, on: {album_id: id}}, {to: playlists, on: {}, cardinality: many_to_many, via: playlist_tracks}]
`,
  texts: `
dataset: texts
source: texts
primary_key: [track_id]
fields: [{name: track_id, type: integer}, {name: language, type: string}]
metrics: [{name: count, agg: count}]
relationships: [{to: tracks, on: {track_id: id}, cardinality: one_to_one}]
`,
  playlists:
    'dataset: playlists\nsource: playlists\nprimary_key: [id]\nfields: [{name: id, type: integer}, {name: name, type: string}]\nmetrics: [{name: count, agg: count}]\n',
  playlist_tracks: `
dataset: playlist_tracks
source: playlist_tracks
primary_key: [playlist_id, track_id]
fields: [{name: playlist_id, type: integer}, {name: track_id, type: integer}]
relationships: [{to: playlists, on: {playlist_id: id}}, {to: tracks, on: {track_id: id}}]
`,
  tickets: `
dataset: tickets
source: tickets
primary_key: [id]
default_time: opened_on
fields: [{name: id, type: integer}, {name: priority, type: string}, {name: opened_on, type: date}]
metrics: [{name: count, agg: count}]
relationships: [{to: customers, on: {customer_id: id}}]
`,
  stock: `
dataset: stock
source: stock
primary_key: [day, site, track_id]
default_time: day
fields: [{name: day, type: date}, {name: site, type: string}, {name: track_id, type: integer}, {name: pieces, type: integer}]
metrics:
  - {name: level, agg: sum, of: pieces, semi_additive: {over: day, take: last}}
  - {name: opening, agg: sum, of: pieces, semi_additive: {over: day, take: first}}
  - {name: known, agg: sum, of: pieces, where: pieces is not null, semi_additive: {over: day, take: last}}
`,
  days: `
dataset: days
source: days
primary_key: [id]
default_time: on_day
fields: [{name: id, type: integer}, {name: on_day, type: date}, {name: amount, type: integer}]
metrics:
  - {name: sum, agg: sum, of: amount}
  - {name: week, cumulative: {of: sum, window: 7 days}}
  - {name: month, cumulative: {of: sum, window: 1 month}}
  - {name: to_year, cumulative: {of: sum, grain_to_date: year}}
  - {name: year_ago, offset: {of: sum, by: 1 year}}
  - {name: month_ago, offset: {of: sum, by: 1 month}}
`,
};
