//! Changes to a session: title, description, budget, model and role.

use wh_domain::{
    BudgetPatch, Credential, EventKind, Facts, ModelName, NewEvent, OfferedModel, Operation,
    Reference, Session, SessionPatch, SessionRole, UserRole,
};

use crate::{
    App, AppError, OpContext, Resource, Result, SessionReason, SettingsReason,
    budget::budget_facts, context::facts,
};

impl App {
    /// Changes a session's title, description, budget, model or role. A session token can change only its own session, unless it
    /// leads, and neither budget nor model nor role.
    pub async fn session_update(
        &self,
        cx: &OpContext,
        session: Option<Reference>,
        patch: SessionPatch,
    ) -> Result<Session> {
        let operation = Operation::SessionUpdate;
        let asked = session.as_ref().map_or("", Reference::as_str);
        let mut facts = facts([("session", asked)]);
        facts.extend(budget_facts(patch.budget));
        facts.extend(
            patch
                .role
                .map(|it| ("role".to_owned(), it.as_str().to_owned())),
        );
        if let Some(model) = &patch.model {
            facts.insert("model".to_owned(), model.to_string());
        }
        self.change(cx, operation, facts.clone(), async {
            let reach = cx.authorize(operation)?;
            let own = cx.principal.credential.session();
            let reference = session
                .or(own.map(Reference::from))
                .ok_or(SessionReason::Unnamed)?;
            let found = self.session_lookup(reach, &reference).await?;
            let is_own = own.is_none_or(|own| own == found.id);
            if !is_own && !cx.principal.leads() {
                return Err(AppError::not_found(Resource::Session));
            }
            refuse_more_than_a_title(cx, &patch)?;
            self.check_budget(cx, patch.budget).await?;
            if let Some(model) = &patch.model {
                self.check_model(cx, &found, model).await?;
            }
            if let Some(role) = patch.role {
                check_role(cx, &found, role)?;
            }
            if patch == SessionPatch::default() {
                return Err(SettingsReason::NothingToChange.into());
            }
            let events = vec![NewEvent {
                kind: EventKind::Updated,
                subject: found.id.into(),
                owner: found.owner,
                session: Some(found.id),
                actor: Some(cx.principal.user),
                facts: Facts::new(),
            }];
            let commit = cx.commit(operation, found.id.into(), facts, events);
            let _applied = self.store.session_patch(found.id, &patch, commit).await?;
            if patch.role.is_some() {
                // The session's token loses its reach at once.
                self.principals.forget_all();
            }
            // Prompts that wait may run now, or a running turn may have to end.
            self.wake(found.id);
            self.session_lookup(reach, &Reference::from(found.id)).await
        })
        .await
    }

    /// Refuses models set by agents, and those that the session's agent does not offer: it would fail when it is started.
    async fn check_model(
        &self,
        cx: &OpContext,
        session: &Session,
        model: &ModelName,
    ) -> Result<()> {
        if cx.principal.credential.session().is_some() {
            return Err(SettingsReason::ModelByAgent.into());
        }
        let offered = self.store.agent_models(&session.agent).await?;
        if offered.is_empty() {
            return Err(SessionReason::ModelsUnknown.into());
        }
        if OfferedModel::find(&offered, model).is_none() {
            let ids = offered.iter().map(|model| model.id.to_string());
            let refusal = SessionReason::ModelNotOffered {
                agent: session.agent.clone(),
                model: model.clone(),
                offered: ids.collect(),
            };
            return Err(refusal.into());
        }
        Ok(())
    }

    /// Refuses budgets set by agents, and limits above those that the server gives every session, unless an administrator sets them.
    async fn check_budget(&self, cx: &OpContext, patch: BudgetPatch) -> Result<()> {
        if patch.is_empty() {
            return Ok(());
        }
        if cx.principal.credential.session().is_some() {
            return Err(SettingsReason::BudgetByAgent.into());
        }
        if cx.principal.role == UserRole::Admin {
            return Ok(());
        }
        let server = self.budget_default().await?;
        match patch.is_within(server) {
            true => Ok(()),
            false => Err(SettingsReason::BudgetAboveLimits.into()),
        }
    }
}

/// Refuses roles given by agents, and every change but taking the role lead away.
fn check_role(cx: &OpContext, session: &Session, role: SessionRole) -> Result<()> {
    if !cx.principal.may_appoint_leads() {
        return Err(SettingsReason::RoleByAgent.into());
    }
    Ok(session.role.check_change(role)?)
}

/// Refuses everything but a new title to keys for a session's name.
fn refuse_more_than_a_title(cx: &OpContext, patch: &SessionPatch) -> Result<()> {
    let title_only = SessionPatch {
        title: patch.title.clone(),
        ..SessionPatch::default()
    };
    match cx.principal.credential {
        Credential::SessionInternal { .. } if *patch != title_only => {
            Err(SettingsReason::TitleOnly.into())
        }
        _ => Ok(()),
    }
}
