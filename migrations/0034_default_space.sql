-- Whether nobody named the space: then the first ingest takes the best model that is on the machine for its languages.
alter table lexichord_data.embedding_space add column is_default boolean not null default false;
