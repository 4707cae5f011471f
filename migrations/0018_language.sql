-- The text configuration of a document's language; null = the database's.
alter table lexichord_data.document add column text_config regconfig;
create index document_text_config on lexichord_data.document (text_config);

-- Whether the language of each document is told and gives its text configuration, or text_config is that of all. A
-- database with the default of before tells the language of what is stored from here on.
alter table lexichord_data.configuration add column by_document boolean not null default false;
update lexichord_data.configuration set by_document = true where text_config = 'pg_catalog.english'::regconfig;
