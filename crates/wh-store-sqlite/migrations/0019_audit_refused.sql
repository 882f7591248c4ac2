-- Calls that were not done, newest first: few among all, and what people look for. Writing one that was done costs no more.
CREATE INDEX audit_refused ON audit (seq) WHERE refused IS NOT NULL;
