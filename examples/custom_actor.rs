//! A stranger's actor: a payload vocabulary and an actor kind of one's own, on the same bus as agents, journaled and
//! numbered like everything else.

use std::collections::BTreeMap;
use std::sync::Arc;

use hermes_bus::{
    Actor, Address, Ask, Context, Envelope, Event, Fault, Kind, Payload, Place, Runtime, TraceId, read_all,
};
use serde::{Deserialize, Serialize};

/// Asks the shop to take something from its stock.
#[derive(Serialize, Deserialize)]
struct Take {
    item: String,
    amount: u32,
}
impl Payload for Take {
    const NAME: &'static str = "shop.take";
    const KIND: Kind = Kind::Command;
}
impl Ask for Take {
    type Reply = Taken;
    type Failure = SoldOut;
}

/// It was taken.
#[derive(Serialize, Deserialize, Debug)]
struct Taken {
    left: u32,
}
impl Payload for Taken {
    const NAME: &'static str = "shop.taken";
    const KIND: Kind = Kind::Event;
}
impl Event for Taken {}

/// There is not enough.
#[derive(Serialize, Deserialize, Debug)]
struct SoldOut {
    available: u32,
}
impl Payload for SoldOut {
    const NAME: &'static str = "shop.sold_out";
    const KIND: Kind = Kind::Event;
}
impl Event for SoldOut {}

struct Shop {
    stock: BTreeMap<String, u32>,
}

impl Actor for Shop {
    fn handle(&mut self, envelope: Arc<Envelope>, context: &Context) -> Result<(), Fault> {
        match envelope.get::<Take>() {
            Ok(take) => match self.stock.get_mut(&take.item).filter(|left| **left >= take.amount) {
                Some(left) => {
                    *left -= take.amount;
                    context.reply(&envelope, Taken { left: *left });
                }
                None => {
                    let available = self.stock.get(&take.item).copied().unwrap_or_default();
                    context.reply(&envelope, SoldOut { available });
                }
            },
            Err(why) => context.unacceptable(&envelope, &why.to_string()),
        }
        Ok(())
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let runtime = Runtime::builder(hermes_actors::open_default_journal()?).start();
    let shop = Address::new("shop")?;
    let open = || Shop { stock: BTreeMap::from([("umbrella 雨伞".to_owned(), 3)]) };
    runtime.register(Place::Runtime, shop.clone(), open).await?;

    let (trace, bus) = (TraceId::fresh(), runtime.bus());
    for amount in [2, 2] {
        let take = Take { item: "umbrella 雨伞".to_owned(), amount };
        println!("{amount}: {:?}", bus.ask(trace, shop.clone(), take).await);
    }
    runtime.shutdown(std::time::Duration::from_secs(1)).await;
    let ours = format!("\"trace_id\":\"{trace}\"");
    for record in read_all(&**runtime.journal())? {
        let line = String::from_utf8_lossy(&record.line).into_owned();
        if line.contains(&ours) {
            eprintln!("{line}");
        }
    }
    Ok(())
}
