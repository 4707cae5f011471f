-- Compared with rrf: docs/log.
create or replace function lexichord.default_fusion() returns text
language sql immutable parallel safe
return 'zscore'::text;
comment on function lexichord.default_fusion() is 'How a search puts its two lists together by default: zscore or rrf. Readers may call it.';
