package simulated
