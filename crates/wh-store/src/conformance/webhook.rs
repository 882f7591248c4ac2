//! Checks of webhooks and of what they are to be told.

use std::sync::Arc;

use jiff::SignedDuration;
use wh_domain::{
    Attempt, EventKind, KeyScope, Operation, PageLimit, PageRequest, Reach, SecretText, UserId,
    UserPatch, UserRole, Webhook, WebhookDelivery, WebhookKinds, WebhookRules, WebhookState,
};

use super::Outcome;
use super::fixture::{self, Made, commit, done, event, now, owned_by, whole};
use crate::{Store, StoreError, WebhookStanding};

async fn webhook(store: &Arc<dyn Store>, user: UserId) -> Made<Webhook> {
    let webhook = Webhook {
        id: fixture::id(),
        user,
        url: "https://hooks.example/x".to_owned(),
        kinds: WebhookKinds::parse(["session.*", "approval.created"])?,
        board: Some(fixture::id()),
        session: None,
        secret: SecretText::new("whsec_AAAA".to_owned()),
        state: WebhookState::Active,
        failures: 0,
        last_error: None,
        cursor: *store.event_watch().borrow(),
        created_at: now(),
    };
    let commit = commit(user, Operation::WebhookCreate);
    done(store.webhook_insert(&webhook, commit).await?);
    Ok(webhook)
}

fn delivery(webhook: &Webhook, event: u64) -> WebhookDelivery {
    WebhookDelivery {
        id: fixture::id(),
        webhook: webhook.id,
        event,
        body: format!("{{\"seq\": {event}}}"),
        attempts: 0,
        created_at: now(),
    }
}

async fn standing(store: &Arc<dyn Store>, webhook: &Webhook) -> Made<WebhookStanding> {
    let mut found = store.webhook_find(Reach::All, &whole(webhook.id)).await?;
    Ok(found.remove(0))
}

/// A webhook is found by its user and by nobody else, as it was inserted, until it is deleted.
pub async fn is_found_by_its_user_alone(store: Arc<dyn Store>) -> Outcome {
    let (user, other) = (fixture::user(&store).await?, fixture::user(&store).await?);
    let key = fixture::key(&store, user.id, KeyScope::Client).await?;
    let made = webhook(&store, user.id).await?;
    let page = PageRequest::first(PageLimit::DEFAULT);
    for (reach, seen) in [
        (Reach::User(user.id), 1),
        (Reach::User(other.id), 0),
        (Reach::Key(key.id), 0),
        (Reach::Tree(fixture::id()), 0),
    ] {
        let found = store.webhook_find(reach, &whole(made.id)).await?;
        assert_eq!(found.len(), seen, "{reach:?}");
        assert_eq!(store.webhook_list(reach, page).await?.items.len(), seen);
    }
    let found = standing(&store, &made).await?;
    assert_eq!((found.pending, found.dead), (0, 0));
    assert_eq!(format!("{:?}", found.webhook), format!("{made:?}"));
    assert_eq!(found.webhook.secret, made.secret);
    let commit = commit(user.id, Operation::WebhookDelete);
    done(store.webhook_delete(made.id, commit).await?);
    assert!(
        store
            .webhook_find(Reach::All, &whole(made.id))
            .await?
            .is_empty()
    );
    Ok(())
}

/// Events are planned once: a second plan from the same place is refused, whatever it holds.
pub async fn plans_each_event_once(store: Arc<dyn Store>) -> Outcome {
    let user = fixture::user(&store).await?.id;
    let made = webhook(&store, user).await?;
    let news = event(
        EventKind::Created,
        fixture::id::<wh_domain::SessionKind>().into(),
        owned_by(user),
    );
    let seq = store.event_announce(now(), news).await?;
    let behind = store.webhook_behind().await?;
    assert!(behind.iter().any(|it| it.id == made.id));
    let planned = vec![delivery(&made, seq)];
    store
        .webhook_plan(made.id, made.cursor, seq, planned)
        .await?;
    let again = store
        .webhook_plan(made.id, made.cursor, seq, vec![delivery(&made, seq)])
        .await;
    assert!(matches!(again, Err(StoreError::Stale { .. })), "{again:?}");
    let found = standing(&store, &made).await?;
    assert_eq!((found.pending, found.webhook.cursor), (1, seq));
    Ok(())
}

/// A delivery is tried until it is taken or given up, and its webhook is turned off when it fails too often.
pub async fn attempts_end_in_delivery_or_in_a_dead_letter(store: Arc<dyn Store>) -> Outcome {
    let user = fixture::user(&store).await?.id;
    let made = webhook(&store, user).await?;
    let rules = WebhookRules {
        retry_after: SignedDuration::from_secs(10),
        attempts_max: 2,
        failures_max: 3,
        ..WebhookRules::default()
    };
    let start = made.cursor;
    let planned = (1..=3).map(|n| delivery(&made, start + n)).collect();
    store
        .webhook_plan(made.id, start, start + 3, planned)
        .await?;
    let due = async |at| {
        let due = store.webhook_due(at, 1_000).await?.into_iter();
        let due = due.filter(|(_, webhook)| webhook.id == made.id);
        Made::Ok(due.map(|(delivery, _)| delivery).collect::<Vec<_>>())
    };
    let at = now();
    let first = due(at).await?;
    assert_eq!(first.len(), 3);
    store
        .webhook_attempted(&first[0], Attempt::Delivered, rules, at)
        .await?;
    let failed = || Attempt::Failed {
        why: "it answered 500".to_owned(),
    };
    store
        .webhook_attempted(&first[1], failed(), rules, at)
        .await?;
    assert_eq!(due(at).await?.len(), 1, "a failure is tried again later");
    let later = at + SignedDuration::from_secs(10);
    let again = due(later).await?;
    let again = again.iter().find(|it| it.id == first[1].id);
    let again = again.ok_or("the failed one is due again")?;
    assert_eq!(again.attempts, 1);
    store
        .webhook_attempted(again, failed(), rules, later)
        .await?;
    let found = standing(&store, &made).await?;
    assert_eq!(
        (found.pending, found.dead, found.webhook.failures),
        (1, 1, 2)
    );
    store
        .webhook_attempted(&first[2], failed(), rules, later)
        .await?;
    let found = standing(&store, &made).await?;
    assert_eq!(found.webhook.state, WebhookState::Failed);
    assert_eq!(found.webhook.last_error.as_deref(), Some("it answered 500"));
    let much_later = at + SignedDuration::from_hours(1);
    assert!(
        due(much_later).await?.is_empty(),
        "nothing is sent while it is off"
    );
    let commit = commit(user, Operation::WebhookUpdate);
    done(
        store
            .webhook_turn(made.id, WebhookState::Active, commit)
            .await?,
    );
    let found = standing(&store, &made).await?;
    assert_eq!(
        (found.webhook.failures, found.webhook.last_error),
        (0, None)
    );
    assert_eq!(due(much_later).await?.len(), 1);
    Ok(())
}

/// What the webhook of a disabled user is to be told waits until they are enabled.
pub async fn of_a_disabled_user_are_not_due(store: Arc<dyn Store>) -> Outcome {
    let (user, other) = (fixture::user(&store).await?, fixture::user(&store).await?);
    let update = async |id: UserId, patch: UserPatch| {
        let commit = commit(id, Operation::UserUpdate);
        store.user_update(id, &patch, now(), commit).await.map(done)
    };
    let admin = UserPatch {
        role: Some(UserRole::Admin),
        ..UserPatch::default()
    };
    update(other.id, admin).await?;
    let made = webhook(&store, user.id).await?;
    let seq = made.cursor + 1;
    let planned = vec![delivery(&made, seq)];
    store
        .webhook_plan(made.id, made.cursor, seq, planned)
        .await?;
    for (disabled, due) in [(true, 0), (false, 1)] {
        let patch = UserPatch {
            disabled: Some(disabled),
            ..UserPatch::default()
        };
        update(user.id, patch).await?;
        let found = store.webhook_due(now(), 100).await?;
        let ours = found.iter().filter(|(_, it)| it.id == made.id).count();
        assert_eq!(ours, due, "disabled: {disabled}");
    }
    Ok(())
}
