-- The analyzer that made a document's lexemes, as lexichord.analyzer_version() numbers them. What is stored is of before:
-- lexichord.analyze_documents() makes it anew, some documents at a time, while searches and ingests go on.
alter table lexichord_data.document add column analyzer_version smallint not null default 1;
create index document_analyzer_version on lexichord_data.document (analyzer_version);
