-- Measured: see feedback_terms.
create or replace function lexichord.default_feedback_documents() returns integer
language sql immutable parallel safe
return 20;
comment on function lexichord.default_feedback_documents() is 'From how many documents a search learns by default. Readers may call it.';
