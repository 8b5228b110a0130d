"""Mark steps and regions by hand, for a loop that no tool could recognise."""

import time

import stepscope


def simulate(particles):
    with stepscope.region("forces"):
        forces = [position * -0.5 for position in particles]
    with stepscope.region("move"):
        return [position + force for position, force in zip(particles, forces, strict=True)]


def wait_for_clients():
    time.sleep(0.002)


def main():
    particles = [float(number) for number in range(20_000)]
    for _ in range(30):
        wait_for_clients()
        particles = simulate(particles)
        stepscope.step()
    print(f"{sum(particles):.3f}")


if __name__ == "__main__":
    main()
