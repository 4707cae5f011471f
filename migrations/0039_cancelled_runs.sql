-- Who cancels an ingest says so here; it is at rest only once it has ended by itself.
alter table lexichord_data.run add column if not exists cancelled_at timestamptz;
