"""PPO (clip) with a batch of CartPoles stepped together, CleanRL style."""
import argparse
import os

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions.categorical import Categorical

from step_clock import StepClock

ZOO = {"id": None, "function": None, "framework": "torch"}


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--exp-name", default=os.path.basename(__file__).rstrip(".py"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--learning-rate", type=float, default=7e-4)
    parser.add_argument("--num-envs", type=int, default=128)
    parser.add_argument("--num-steps", type=int, default=32)
    parser.add_argument("--num-updates", type=int, default=5)
    parser.add_argument("--gamma", type=float, default=0.99)
    parser.add_argument("--gae-lambda", type=float, default=0.95)
    parser.add_argument("--num-minibatches", type=int, default=2)
    parser.add_argument("--update-epochs", type=int, default=8)
    parser.add_argument("--clip-coef", type=float, default=0.2)
    parser.add_argument("--ent-coef", type=float, default=0.01)
    parser.add_argument("--vf-coef", type=float, default=0.5)
    parser.add_argument("--fixed", action="store_true", help="use the faster variant (there is only one here)")
    return parser.parse_args()


class VectorCartPole:
    def __init__(self, num_envs, seed):
        self.rng = np.random.default_rng(seed)
        self.state = self.rng.uniform(-0.05, 0.05, (num_envs, 4)).astype(np.float32)
        self.length = np.zeros(num_envs)
        self.finished = []

    def step(self, action):
        x, v, th, om = self.state.T
        force = np.where(action == 1, 10.0, -10.0)
        cos, sin = np.cos(th), np.sin(th)
        temp = (force + 0.05 * om ** 2 * sin) / 1.1
        alpha = (9.8 * sin - cos * temp) / (0.5 * (4 / 3 - 0.1 * cos ** 2 / 1.1))
        acc = temp - 0.05 * alpha * cos / 1.1
        self.state = np.stack([x + 0.02 * v, v + 0.02 * acc, th + 0.02 * om, om + 0.02 * alpha], 1).astype(np.float32)
        self.length += 1
        done = (np.abs(self.state[:, 0]) > 2.4) | (np.abs(self.state[:, 2]) > 0.2095) | (self.length >= 500)
        self.finished.extend(self.length[done])
        self.state[done] = self.rng.uniform(-0.05, 0.05, (done.sum(), 4))
        self.length[done] = 0
        return self.state, np.ones(len(done), np.float32), done.astype(np.float32)


def layer_init(layer, std=np.sqrt(2), bias_const=0.0):
    nn.init.orthogonal_(layer.weight, std)
    nn.init.constant_(layer.bias, bias_const)
    return layer


class Agent(nn.Module):
    def __init__(self, hidden=384):
        super().__init__()
        mlp = lambda out, std: nn.Sequential(
            layer_init(nn.Linear(4, hidden)), nn.ReLU(), layer_init(nn.Linear(hidden, hidden)), nn.ReLU(),
            layer_init(nn.Linear(hidden, out), std=std))
        self.critic = mlp(1, 1.0)
        self.actor = mlp(2, 0.01)

    def get_action_and_value(self, x, action=None):
        probs = Categorical(logits=self.actor(x), validate_args=False)
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action), probs.entropy(), self.critic(x).squeeze(-1)


if __name__ == "__main__":
    args = parse_args()
    torch.manual_seed(args.seed)
    envs = VectorCartPole(args.num_envs, args.seed)
    agent = Agent()
    optimizer = optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5, fused=True)
    T, N = args.num_steps, args.num_envs
    obs = torch.zeros(T, N, 4)
    actions, logprobs, rewards, dones, values = (torch.zeros(T, N) for _ in range(5))
    batch_size = T * N
    next_obs = torch.from_numpy(envs.state.copy())
    clock = StepClock()

    for update in range(1, args.num_updates + 1):
        with torch.no_grad():
            for t in range(T):
                action, logprob, _, value = agent.get_action_and_value(next_obs)
                obs[t], actions[t], logprobs[t], values[t] = next_obs, action, logprob, value
                state, reward, done = envs.step(action.numpy())
                rewards[t], dones[t] = torch.from_numpy(reward), torch.from_numpy(done)
                next_obs = torch.from_numpy(state.copy())
            next_value = agent.critic(next_obs).squeeze(-1)
            advantages = torch.zeros(T, N)
            last = torch.zeros(N)
            for t in reversed(range(T)):
                alive = 1.0 - dones[t]
                delta = rewards[t] + args.gamma * next_value * alive - values[t]
                last = delta + args.gamma * args.gae_lambda * alive * last
                advantages[t], next_value = last, values[t]
            returns = advantages + values

        b_obs, b_act, b_logp = obs.view(-1, 4), actions.view(-1), logprobs.view(-1)
        b_adv, b_ret = advantages.view(-1), returns.view(-1)
        for epoch in range(args.update_epochs):
            for idx in torch.randperm(batch_size).chunk(args.num_minibatches):
                _, newlogprob, entropy, newvalue = agent.get_action_and_value(b_obs[idx], b_act[idx])
                ratio = (newlogprob - b_logp[idx]).exp()
                adv = b_adv[idx]
                adv = (adv - adv.mean()) / (adv.std() + 1e-8)
                pg_loss = -torch.min(adv * ratio, adv * ratio.clamp(1 - args.clip_coef, 1 + args.clip_coef)).mean()
                v_loss = 0.5 * (newvalue - b_ret[idx]).pow(2).mean()
                loss = pg_loss - args.ent_coef * entropy.mean() + args.vf_coef * v_loss
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
                clock.tick()
        recent = envs.finished[-100:]
        print(f"update={update}, value_loss={v_loss.item():.3f}, episodic_length={np.mean(recent):.1f}")
    clock.dump()
