/** SQLite in WAL mode: each append is one transaction, synced before it returns. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Message } from './conversation.ts';
import type { OpenStore } from './store.ts';

export const openSqlite: OpenStore = (directory) => {
  const database = new DatabaseSync(join(directory, 'store.db'));
  database.exec('PRAGMA journal_mode = WAL');
  // In WAL mode only FULL syncs the log at each commit; NORMAL may lose the last turns when the power fails.
  database.exec('PRAGMA synchronous = FULL');
  database.exec(
    'CREATE TABLE IF NOT EXISTS messages (id INTEGER PRIMARY KEY, role TEXT, tokens INTEGER, text TEXT)',
  );
  const insert = database.prepare('INSERT INTO messages (role, tokens, text) VALUES (?, ?, ?)');
  const select = database.prepare('SELECT role, tokens, text FROM messages ORDER BY id');
  return {
    append(messages) {
      database.exec('BEGIN IMMEDIATE');
      for (const { role, tokens, text } of messages) insert.run(role, tokens, text);
      database.exec('COMMIT');
    },
    messages: () => select.iterate() as Iterable<unknown> as Iterable<Message>,
    close: () => database.close(),
  };
};
