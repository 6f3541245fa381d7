-- The policies on a deployment and the tokens for it now end by triggers of the domains that own them.
drop function if exists end_deployment() cascade;
